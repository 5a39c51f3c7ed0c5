// A page that was opened from a disk may not start Python: say how to serve the book, in place of the button.
for (const link of location.protocol === "file:" ? document.querySelectorAll("a.run-in-browser") : []) {
  const note = link.parentElement;
  note.textContent = "To run this chapter here, with nothing installed, the book has to be served: ";
  const command = document.createElement("code");
  command.textContent = "make serve";
  note.append(command);
}

// Tables that are wider than the page scroll inside themselves: let the keyboard reach them, as the theme does for code.
for (const table of document.querySelectorAll(".bd-article table")) {
  if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
}
