/**
 * The script for forms in the HTML of other sites. It sends the form without leaving the page, and shows
 * the answer or the faults in place. Without it, or if it cannot reach the server, the browser sends the
 * form itself. It has no dependencies, and serves all forms of a page.
 */

import { sha256 } from "../../lib/crypto.ts";

export const EMBED_PATH = "/f/embed.js";

/** Plain JavaScript for all browsers of the last years; at most 3,000 octets. */
const EMBED_SCRIPT = `(() => {
  const own = "mailstead-own";
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

  const clear = (form) => {
    form.querySelectorAll("[data-" + own + "]").forEach((part) => part.remove());
    form.querySelectorAll("[aria-invalid]").forEach((field) => {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    });
  };

  const tell = (form, text) => {
    const part = make("p", text);
    part.setAttribute("role", "alert");
    part.setAttribute("data-" + own, "");
    part.style.color = "#b3261e";
    form.prepend(part);
  };

  const mark = (form, { field, message }, i) => {
    const input = form.elements[field];
    const control = input && (input.length === undefined || input.tagName ? input : input[0]);
    if (!control) return tell(form, message);
    const part = make("small", message);
    part.id = own + "-" + field + "-" + Math.random().toString(36).slice(2);
    part.setAttribute("data-" + own, "");
    part.style.cssText = "display:block;color:#b3261e";
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", part.id);
    (control.closest("label") || control).after(part);
    if (i === 0) control.focus();
  };

  const done = (form, { title, message, url }) => {
    if (url) return location.assign(url);
    const part = document.createElement("div");
    part.className = "mailstead-done";
    part.setAttribute("role", "status");
    part.tabIndex = -1;
    form.replaceChildren(part);
    part.append(make("strong", title), make("p", message));
    part.focus();
  };

  const send = async (form) => {
    const button = form.querySelector("[type=submit]");
    clear(form);
    button.disabled = true;
    form.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        headers: { Accept: "application/json" },
        body: new URLSearchParams(new FormData(form)),
      });
      const { data, error } = await answer.json();
      if (data) return done(form, data);
      if (error.errors) error.errors.forEach((fault, i) => mark(form, fault, i));
      else tell(form, error.message);
    } catch {
      HTMLFormElement.prototype.submit.call(form);
    } finally {
      button.disabled = false;
      form.removeAttribute("aria-busy");
    }
  };

  const start = () =>
    document.querySelectorAll("form[data-mailstead]").forEach((form) => {
      if (form.dataset.mailstead) return;
      form.dataset.mailstead = "on";
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        send(form);
      });
      navigator.sendBeacon(form.action + "/shown");
    });

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
`;

const TAG = `"${sha256(EMBED_SCRIPT).slice(0, 32)}"`;

const HEADERS = {
  "Content-Type": "text/javascript; charset=utf-8",
  // Its address stays the same, so that a correction reaches all sites within an hour.
  "Cache-Control": "public, max-age=3600",
  ETag: TAG,
  "X-Content-Type-Options": "nosniff",
  // Pages of other origins load it, also those that require this header.
  "Cross-Origin-Resource-Policy": "cross-origin",
};

export function embedResponse({ headers }: Request): Response {
  return headers.get("if-none-match") === TAG
    ? new Response(null, { status: 304, headers: HEADERS })
    : new Response(EMBED_SCRIPT, { headers: HEADERS });
}
