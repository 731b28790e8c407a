// site.js - what every page does for its reader: `/` goes to the search field,
// blocks of code can be copied, and the navigation shows where the page is.
"use strict";

// Returns the text that a block's button copies: only the commands of a console
// block, or else all of it.
function copied(code) {
    const commands = [...code.querySelectorAll(".command")];
    return commands.length > 0
        ? commands.map((command) => command.textContent).join("\n")
        : code.textContent.replace(/\n$/, "");
}

// Gives a block of code its button. Where a page may not use the clipboard, as in
// a file without HTTPS, the text is selected instead.
function addButton(block) {
    const code = block.querySelector("code");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    if (block.querySelector(".command"))
        button.title = "Copy the commands";
    button.addEventListener("click", async () => {
        try {
            await navigator.clipboard.writeText(copied(code));
            button.textContent = "Copied";
        } catch {
            getSelection().selectAllChildren(code);
            button.textContent = "Selected";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
}

for (const block of document.querySelectorAll(".code[data-language]"))
    addButton(block);

// The navigation is open where it stands beside the text, and a long one begins where
// the page is.
const list = document.querySelector(".book");
if (list && matchMedia("(min-width: 60rem)").matches) {
    list.querySelector("details").open = true;
    const current = list.querySelector("[aria-current]");
    if (current && list.scrollHeight > list.clientHeight)
        list.scrollTop = current.offsetTop - list.clientHeight / 2;
}

document.addEventListener("keydown", (event) => {
    const field = document.querySelector("input[type=search]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey ||
        event.target.closest("input, textarea, select") || !field)
        return;
    event.preventDefault();
    field.focus();
    field.select();
});
