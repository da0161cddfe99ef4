// The best score of every lesson, kept in the browser.
const STORAGE_KEY = "gnomon-playground-stars";

export class Stars {
  readonly all: Record<string, number> = {};

  constructor() {
    try {
      Object.assign(this.all, JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}"));
    } catch {
      // Pages from disk may not read anything.
    }
  }

  /** Keeps a score if it is better than before; returns whether it was. */
  keep(lesson: string, stars: number): boolean {
    if ((this.all[lesson] ?? -1) >= stars) return false;
    this.all[lesson] = stars;
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(this.all));
    } catch {
      // Pages from disk may not store anything; the stars are kept while the page is open.
    }
    return true;
  }
}
