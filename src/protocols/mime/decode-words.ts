/** Decodes encoded words (RFC 2047) in the text of a header field, for people to read. */

const WORD = /=\?[\w.:+*-]{1,60}\?[bq]\?[^?\s]{0,2000}\?=/gi;

/** Character sets of mail beside Latin-1 (WHATWG Encoding §4.2). */
const ENCODINGS = [
  "utf-8",
  "utf8",
  "latin1",
  "iso-8859-2",
  "iso-8859-5",
  "iso-8859-7",
  "iso-8859-8",
  "iso-8859-9",
  "iso-8859-15",
  "windows-1250",
  "windows-1251",
  "windows-1252",
  "windows-1253",
  "windows-1254",
  "windows-1255",
  "windows-1256",
  "windows-1257",
  "windows-874",
  "koi8-r",
  "koi8-u",
  "gb2312",
  "gbk",
  "gb18030",
  "big5",
  "euc-jp",
  "iso-2022-jp",
  "shift_jis",
  "euc-kr",
  "ks_c_5601-1987",
] as const;

/** Text that is not an encoded word, or has an unknown character set, is returned unchanged. */
export function decodeWords(text: string): string {
  let decoded = "";
  let end = 0;
  let followsWord = false;
  for (const match of text.matchAll(WORD)) {
    const between = text.slice(end, match.index);
    const word = decodeWord(match[0]);
    // White space between two encoded words is not a part of the text (RFC 2047 §6.2).
    const isGap = followsWord && word !== null && between.trim() === "";
    decoded += `${isGap ? "" : between}${word ?? match[0]}`;
    followsWord = word !== null;
    end = match.index + match[0].length;
  }
  return decoded + text.slice(end);
}

function decodeWord(word: string): string | null {
  const [, charset = "", form = "", content = ""] = word.split("?");
  const bytes = form.toLowerCase() === "b" ? Buffer.from(content, "base64") : decodeQ(content);
  // A language may follow the character set (RFC 2231 §5).
  const [label = ""] = charset.toLowerCase().split("*", 1);
  const known = label === "us-ascii" || label === "iso-8859-1" ? "latin1" : label;
  const encoding = ENCODINGS.find((name) => name === known);
  return encoding === undefined ? null : new TextDecoder(encoding).decode(bytes);
}

function decodeQ(content: string): Buffer {
  const text = content
    .replaceAll("_", " ")
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, "latin1");
}
