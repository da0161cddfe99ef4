// Keys of the whole page; form fields, buttons and dialogs keep theirs.
export function listenToKeys(actions: Record<string, () => void>): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typed = event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(target.tagName);
    const action = actions[event.key];
    if (!action || typed || document.querySelector("dialog[open]")) return;
    action();
    event.preventDefault();
  });
}
