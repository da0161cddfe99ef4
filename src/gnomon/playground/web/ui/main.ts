import { main } from "./app";

// The title is painted before the page is built.
requestAnimationFrame(() => setTimeout(() => void main()));
