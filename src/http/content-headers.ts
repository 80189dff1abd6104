/** Headers that make it safe to show the contents of a message in a browser. */

/** Scripts and forms do not run; a link opens in a new page that has none of these limits. */
const SANDBOX = "sandbox allow-popups allow-popups-to-escape-sandbox";
/** Styles of the document, images in it, and images of this server, which are parts of the message. */
const LOCAL_CONTENT =
  "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'";
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/i;
/**
 * For a part that is opened by itself: an SVG image is a document then, which could run scripts and load
 * from other hosts.
 */
export const PART_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";
/** Types that a page of a message may embed. Other parts are downloaded. */
const EMBEDDED = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/i;

type NamedPart = { filename: string; contentType: string };

export function contentHeaders(type: string, filename: string): Record<string, string> {
  return {
    "Content-Type": type,
    "Content-Disposition": disposition("inline", filename),
    "Content-Security-Policy": PART_POLICY,
    "X-Content-Type-Options": "nosniff",
  };
}

/**
 * The headers of the HTML part. Without remote images, nothing is loaded from other hosts: a sender
 * would see who opened the message, and when.
 */
export function htmlHeaders({ hasRemoteImages }: { hasRemoteImages: boolean }) {
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": hasRemoteImages ? SANDBOX : `${SANDBOX}; ${LOCAL_CONTENT}`,
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
  };
}

/** A type that is not a media type becomes `application/octet-stream`. */
export function partHeaders(part: NamedPart | undefined): Record<string, string> {
  const type = part?.contentType ?? "";
  const filename = part === undefined || part.filename === "" ? "part" : part.filename;
  return {
    "Content-Type": MEDIA_TYPE.test(type) ? type : "application/octet-stream",
    "Content-Disposition": disposition(EMBEDDED.test(type) ? "inline" : "attachment", filename),
    "Content-Security-Policy": PART_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
  };
}

/** The name with its characters beyond ASCII (RFC 6266 §4.3, RFC 8187). */
function disposition(kind: "inline" | "attachment", filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\]/g, "_").slice(0, 200);
  const encoded = encodeURIComponent(filename.slice(0, 200).toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
