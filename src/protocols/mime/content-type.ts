/** Media types of attachments (RFC 2045 §5.1, RFC 6838 §4.2). */

const NAME = "[a-z0-9][a-z0-9!#$&^_.+-]{0,126}";
const TOKEN = "[!#$%&'*+.^_`{|}~a-z0-9-]+";
const PARAMETER = `\\s*;\\s*${TOKEN}=(?:${TOKEN}|"(?:[ !#-\\[\\]-~]|\\\\[ -~])*")`;
const MEDIA_TYPE = new RegExp(`^${NAME}/${NAME}(?:${PARAMETER})*$`, "i");

/** Whether the text is a media type, with or without parameters, that is valid in a header. */
export function isMediaType(text: string): boolean {
  return text.length <= 255 && !/[^\x20-\x7e]/.test(text) && MEDIA_TYPE.test(text);
}
