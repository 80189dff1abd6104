/**
 * Style sheets of parts that few pages show. They are files of their own, so that the first page does
 * not load them: `await loadStyles(href)` in the module of such a part, whose `href` is imported with
 * the type "file". A part without its styles is usable, so an error is no reason to fail.
 */

const loaded = new Map<string, Promise<void>>();

export function loadStyles(href: string): Promise<void> {
  const before = loaded.get(href);
  if (before !== undefined) return before;
  const started = new Promise<void>((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      // The next part that needs it tries again.
      link.remove();
      loaded.delete(href);
      resolve();
    });
    document.head.append(link);
  });
  loaded.set(href, started);
  return started;
}
