/**
 * Style sheets of parts that few pages show. They are files of their own, so that the first page does
 * not load them. The module of such a part calls `loadStyles(href)`, whose `href` is imported with the
 * type "file", and a lazy page or part is shown when its styles are there (lazy.tsx).
 */

const loading = new Map<string, Promise<void>>();

/** A part without its styles is usable, so an error is no reason to fail. */
export function loadStyles(href: string): void {
  if (loading.has(href)) return;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = href;
  loading.set(
    href,
    new Promise((resolve) => {
      link.addEventListener("load", () => resolve());
      link.addEventListener("error", () => resolve());
    }),
  );
  document.head.append(link);
}

/** Resolves when all style sheets are there that were asked for. */
export async function stylesLoaded(): Promise<void> {
  await Promise.all(loading.values());
}
