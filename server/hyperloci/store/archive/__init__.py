"""Archive: compressed turns and the files of cold chunks (C.07)."""
