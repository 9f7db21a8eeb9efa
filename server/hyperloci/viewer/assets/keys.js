// Keys. Every page works without this file; it only saves the hand a way.
const root = document.body.dataset.root;
const places = { s: "/", t: "/timeline", e: "/sessions", r: "/review", o: "/topics", p: "/state" };
const dialog = document.getElementById("keys");
let awaitsPlace = false;

const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

function step(by) {
  const items = [...document.querySelectorAll(".item")].filter((item) => item.offsetParent !== null);
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const next = items[at < 0 && by < 0 ? items.length - 1 : Math.max(0, Math.min(items.length - 1, at + by))];
  if (next) {
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
}

function openItem() {
  const item = document.activeElement;
  if (!item.classList.contains("item")) return false;
  item.querySelector("a.open")?.click();
  return true;
}

function startEditing() {
  const edit = document.getElementById("edit");
  if (!edit) return false;
  edit.open = true;
  edit.querySelector("textarea").focus();
  return true;
}

function act(key) {
  if (awaitsPlace) {
    awaitsPlace = false;
    if (places[key]) location.assign(root + places[key]);
    return Boolean(places[key]);
  }
  switch (key) {
    case "/": {
      const field = document.getElementById("q");
      if (field) field.select();
      else location.assign(`${root}/`);
      return true;
    }
    case "j": step(1); return true;
    case "k": step(-1); return true;
    case "g": awaitsPlace = true; return true;
    case "e": return startEditing();
    case "Enter": return openItem();
    case "?": dialog.showModal(); return true;
    default: return false;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !dialog.open && isTyping(event.target)) event.target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || isTyping(event.target)) return;
  if (act(event.key)) event.preventDefault();
});

if (location.hash === "#edit") startEditing();

// A drawing that is wider than the window begins with the memory in question, not with its left edge.
for (const drawing of document.querySelectorAll(".drawing")) {
  const middle = drawing.querySelector(".middle rect").getBoundingClientRect();
  drawing.scrollLeft = middle.left + middle.width / 2 - drawing.getBoundingClientRect().left - drawing.clientWidth / 2;
}
