// The address of the page: what it holds, how it is written and copied.
import { writeState, type State } from "../core/state";
import { lessonState } from "./lessons";

/** The part of a link after the page: the lesson, and what differs from its setting. */
export const linkTo = (state: State, chrome: boolean) => `#${writeState(state, lessonState(state.lesson)!)}${chrome ? "" : "&chrome=0"}`;

/** Puts a link into the address bar, as a new entry for the back button or in place of the last one. */
export function setLink(hash: string, push: boolean): void {
  if (hash === location.hash) return;
  try {
    if (push) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  } catch {
    // Some embedding pages forbid it; the link can still be copied.
  }
}

export async function copy(text: string, done: (worked: boolean) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    done(true);
  } catch {
    done(false);
  }
}
