/**
 * Runs before the first paint, as a script of its own. It sets the colour scheme, so that the page
 * does not flash, and gives each `<style>` element that a library creates the nonce of the page.
 */

import { SCHEME_KEY } from "./scheme-key.ts";

const stored = localStorage.getItem(SCHEME_KEY);
const isSystemDark = matchMedia("(prefers-color-scheme: dark)").matches;
const scheme = stored === "light" || stored === "dark" ? stored : isSystemDark ? "dark" : "light";
document.documentElement.setAttribute("data-mantine-color-scheme", scheme);

const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";

document.createElement = new Proxy(document.createElement, {
  apply(create, self, given) {
    const element: unknown = Reflect.apply(create, self, given);
    if (element instanceof HTMLStyleElement) element.setAttribute("nonce", nonce);
    return element;
  },
});
