/**
 * Finds the links of a message and puts them in the order in which a test or a person is likely to
 * need them: links that sign in, confirm, accept or reset come first; unsubscribing, social networks
 * and legal pages come last.
 */

/** Longest HTML or text that is read, in characters. */
const MAX_CHARACTERS = 512 * 1024;
const MAX_LINKS = 500;
const LONGEST_URL = 8_192;
const LONGEST_TEXT = 500;

type LinkKind = "MAGIC" | "OTHER" | "UNSUBSCRIBE";

type FoundLink = {
  url: string;
  /** Text of the link; empty for a link in plain text. */
  text: string;
  /** Number of the link in its part, from 0. */
  position: number;
  part: "HTML" | "TEXT";
  kind: LinkKind;
};

type Candidate = Omit<FoundLink, "kind">;

/** The links of both parts, each URL once, best first. */
export function findLinks(message: { html: string; text: string }): FoundLink[] {
  const found = new Map<string, Candidate>();
  for (const link of [...linksOfHtml(message.html), ...linksOfText(message.text)]) {
    const known = found.get(link.url);
    if (known === undefined && found.size < MAX_LINKS) found.set(link.url, link);
    else if (known !== undefined && known.text === "") known.text = link.text;
  }
  return [...found.values()]
    .map((link) => ({ link: { ...link, kind: kindOf(link) }, score: scoreOf(link) }))
    .sort((a, b) => b.score - a.score)
    .map(({ link }) => link);
}

function linksOfHtml(html: string): Candidate[] {
  const links: Candidate[] = [];
  const rewriter = new HTMLRewriter().on("a[href], area[href]", {
    element(element) {
      const url = decodeEntities(element.getAttribute("href") ?? "").trim();
      const text = element.getAttribute("aria-label") ?? element.getAttribute("title") ?? "";
      const isKept = links.length < MAX_LINKS && isWebUrl(url);
      if (isKept) links.push({ url, text, position: links.length, part: "HTML" });
      isInLink = isKept;
      textOfLink = "";
      if (!element.canHaveContent) return;
      element.onEndTag(() => {
        const last = links.at(-1);
        const shown = decodeEntities(textOfLink).replaceAll(/\s+/g, " ").trim();
        if (isInLink && last !== undefined && shown !== "") last.text = shown;
        isInLink = false;
      });
    },
    text({ text }) {
      if (isInLink && textOfLink.length < LONGEST_TEXT) textOfLink += text;
    },
  });
  let isInLink = false;
  let textOfLink = "";
  rewriter.transform(html.slice(0, MAX_CHARACTERS));
  return links;
}

function linksOfText(text: string): Candidate[] {
  return [...text.slice(0, MAX_CHARACTERS).matchAll(/https?:\/\/[^\s<>"'`]{1,8192}/gi)]
    .slice(0, MAX_LINKS)
    .map(([url]) => withoutPunctuation(url))
    .filter(isWebUrl)
    .map((url, position) => ({ url, text: "", position, part: "TEXT" }));
}

/** Removes the punctuation that follows a URL in a sentence, and a bracket that it does not open. */
function withoutPunctuation(url: string): string {
  let end = url.length;
  for (; end > 0; end--) {
    const last = url.charAt(end - 1);
    if (".,;:!?*".includes(last)) continue;
    if (last === "]" || (last === ")" && !url.slice(0, end).includes("("))) continue;
    break;
  }
  return url.slice(0, end);
}

function isWebUrl(url: string): boolean {
  return url.length <= LONGEST_URL && /^https?:\/\/[^/]/i.test(url) && URL.canParse(url);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#38;": "&",
  "&nbsp;": " ",
};

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|nbsp|#39|#38);/g, (entity) => ENTITIES[entity] ?? "");
}

/** Words of links that a recipient must follow, in the languages of common applications. */
const ACTION =
  /magic|verif|confirm|activat|sign[\s_-]?in|log[\s_-]?in|sign[\s_-]?up|reset|password|invit|accept|one[\s_-]?time|otp|get started|bestätig|anmeld|passwort|einlad|connexion|connecter|mot de passe|restablec|contraseñ|iniciar|accedi|reimposta|inloggen|wachtwoord|подтверд|войти|пароль|ログイン|確認|登录|验证/i;
const UNSUBSCRIBE =
  /unsubscrib|opt[\s_-]?out|abmeld|abbestell|désabonn|désinscri|darse de baja|cancelar suscripci|disiscri|afmeld|отписа|配信停止|退订/i;
const SIDE =
  /preferences|privacy|terms|imprint|impressum|datenschutz|view in browser|view online|webversion|facebook\.com|twitter\.com|\/\/x\.com|instagram\.com|linkedin\.com|youtube\.com|help|support|faq|contact/i;
const TOKEN_NAME = /[?&#/](?:token|code|key|t|ticket|otp|nonce|signature|hash|uid)[=/]/i;

function kindOf(link: Candidate): LinkKind {
  if (UNSUBSCRIBE.test(link.url) || UNSUBSCRIBE.test(link.text)) return "UNSUBSCRIBE";
  return scoreOf(link) >= 6 ? "MAGIC" : "OTHER";
}

function scoreOf({ url, text, part }: Candidate): number {
  if (UNSUBSCRIBE.test(url) || UNSUBSCRIBE.test(text)) return -10;
  const { pathname, search, hash } = new URL(url);
  const rest = decoded(pathname + search + hash);
  const hasToken = rest.split(/[/?&=#.]/).some(isToken);
  return (
    (ACTION.test(text) ? 4 : 0) +
    (ACTION.test(rest) ? 3 : 0) +
    (hasToken ? 3 : 0) +
    (TOKEN_NAME.test(rest) ? 2 : 0) +
    (pathname === "/" && search === "" ? -2 : 0) +
    (SIDE.test(url) || SIDE.test(text) ? -4 : 0) +
    (part === "TEXT" ? -0.5 : 0)
  );
}

/** A long piece with letters and digits, or a very long one, as tokens are. */
function isToken(piece: string): boolean {
  if (!/^[\w~%-]{16,4096}$/.test(piece)) return false;
  return piece.length >= 32 || (/\d/.test(piece) && /[a-z]/i.test(piece));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
