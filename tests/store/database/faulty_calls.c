/* Makes the N-th writing call of a process fail: loaded before libc (LD_PRELOAD), armed through ctypes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static volatile int left = -1, every = 0, code = EIO, struck = 0;

/* After `number` more calls one fails with `error`; with `all`, each one after it too. 0 or less disarms. */
void faulty_arm(int number, int error, int all) { struck = 0; code = error; every = all; left = number > 0 ? number : -1; }
int faulty_struck(void) { return struck; }

static int fails(void) {
    if (left < 0) return 0;
    if (left > 1) { left--; return 0; }
    struck++;
    if (!every) left = -1;
    errno = code;
    return 1;
}

#define NEXT(type, name) static type (*next)(); if (!next) next = (type (*)())dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *data, size_t size) { NEXT(ssize_t, "write"); return fails() ? -1 : next(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { NEXT(ssize_t, "pwrite"); return fails() ? -1 : next(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { NEXT(ssize_t, "pwrite64"); return fails() ? -1 : next(fd, data, size, at); }
int fsync(int fd) { NEXT(int, "fsync"); return fails() ? -1 : next(fd); }
int fdatasync(int fd) { NEXT(int, "fdatasync"); return fails() ? -1 : next(fd); }
int ftruncate(int fd, off_t size) { NEXT(int, "ftruncate"); return fails() ? -1 : next(fd, size); }
int ftruncate64(int fd, off64_t size) { NEXT(int, "ftruncate64"); return fails() ? -1 : next(fd, size); }
int rename(const char *old, const char *new) { NEXT(int, "rename"); return fails() ? -1 : next(old, new); }
int renameat(int a, const char *old, int b, const char *new) { NEXT(int, "renameat"); return fails() ? -1 : next(a, old, b, new); }

static int opens(const char *name, const char *path, int flags, mode_t mode) {
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    /* Reading may go on: only what opens a file to make or change it is a write. */
    return (flags & O_ACCMODE) != O_RDONLY && fails() ? -1 : next(path, flags, mode);
}
int open(const char *path, int flags, ...) { va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); return opens("open", path, flags, mode); }
int open64(const char *path, int flags, ...) { va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); return opens("open64", path, flags, mode); }
