/**
 * Removes from the HTML of a mail what makes a browser connect to other hosts in advance. No policy
 * forbids `preconnect`, and a sender would see who opened the mail, and when.
 */

/** The types of links that stay; browsers prepare or load others, such as `dns-prefetch`. */
const HARMLESS = new Set(["stylesheet", "alternate", "canonical", "author", "license"]);
/** HTML in which no link, refresh or rule of a document connects to another host. */
export function withoutPreparation(html: string): string {
  const opened = withoutNoScript(html);
  if (!/<(?:link|meta|noscript|script)/i.test(opened)) return opened;
  return new HTMLRewriter()
    .on("link", {
      element(link) {
        const types = (link.getAttribute("rel") ?? "").toLowerCase().split(/[\t\n\f\r ]+/);
        if (!types.every((type) => HARMLESS.has(type))) link.remove();
      },
    })
    .on("noscript, meta[http-equiv='refresh' i], script[type='speculationrules' i]", {
      element: (element) => void element.remove(),
    })
    .transform(opened);
}

/**
 * The content of `noscript` as elements: HTMLRewriter takes it for a text, but a document without
 * scripts shows it. The caller removes an element inside another one.
 */
export function withoutNoScript(html: string): string {
  if (!/<noscript/i.test(html)) return html;
  return new HTMLRewriter()
    .on("noscript", { element: (element) => void element.removeAndKeepContent() })
    .transform(html);
}
