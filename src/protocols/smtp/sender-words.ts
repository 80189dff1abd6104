/**
 * Tells whether a refusal speaks of the sender or of the recipient, because both can be "user
 * unknown" and only the recipient is suppressed (docs/delivery.md#R1). Servers name the address that
 * they mean before they say what is wrong with it ("Sender: user unknown"), and sometimes directly
 * after it ("unknown user in From: header"). So these decide, in this order:
 *
 * 1. Words that report the check of the sender: the sender, wherever they stand.
 * 2. The last word for an address before the words about it.
 * 3. A word for the sender directly after them, in the same clause.
 */

/** Stands in a text for the address of the sender, which the text quotes. */
export const OWN_ADDRESS = "ownaddress";

const SENDER =
  /\bsenders?\b|\breturn[- ]?path\b|\breverse[- ]?path\b|\benvelope[- ]?from\b|\boriginators?\b|\bmail[- ]?from\b|\bfrom:|\bfrom[- ](?:user|address|header|field|domain|mail ?box)\b|\bauthenticated\b|\bauth(?:entication)? (?:user|id|account)\b|\bsubmitters?\b|\b(?:sending|source|originating|origin|bounce|reply[- ]?to|author|login|mailing|submitting|sasl) (?:e-?mail )?(?:address|user|account|mail ?box|domain)\b|\bsmtp (?:user|account|login)\b|\byou are (?:an?|not|unknown)\b|\byou(?:'re| are) sending from\b|\byour (?:e-?mail |own |mail )?(?:address|domain|host|ip|server|account|mail ?box|user ?name)\b|\bownaddress\b|\b(?:absender|exp[eé]diteur|remitente|mittente|remetente|nadawc\w*|afzender)|отправител|发件人/;
const RECIPIENT =
  /\brecipients?\b|\brecip\b|\baddressees?\b|\brcpt\b|\bdestinations?\b|\bforward[- ]?path\b|\b(?:tried|trying|attempted) to (?:reach|contact|send)|\bto: |\bempf(?:ä|ae)nger|\bdestinataire|\bdestinatario|\bdestinatário|получател|收件人/;

const WORDS = new RegExp(`(?<sender>${SENDER.source})|${RECIPIENT.source}`, "giu");
const SENDER_WORD = new RegExp(SENDER.source, "iu");

/** A check of the sender failed, or the server refused the sender: nothing else can be meant. */
const SENDER_CHECK = anyOf([
  /\b(?:sender|return[- ]?path|reverse[- ]?path|envelope[- ]?from|mail[- ]?from|originator)\W{0,2}(?:address |e-?mail |domain |user )?(?:(?:is|was|has been|could not be|couldn't be|cannot be) )?(?:verif\w*|rejected|refused|denied|blocked|callout|callback)\b/,
  /\b(?:verify|verifying|validate|validating|reject(?:ed|s|ing)?|refus(?:ed|es|ing)|check(?:ing)?|invalid|bad|unknown) (?:the |this |that |your |envelope |forged ){0,2}(?:senders?|return[- ]?path|reverse[- ]?path|envelope[- ]?from|originator)\b(?!.{0,3}\b(?:ok|accepted))/,
  /\bcall-?(?:back|out)\b|(?<!recipient )(?<!address )\bverification failed for\b|\b(?:ehlo|helo)\b/,
]);

/**
 * Words that name the sender but say nothing of it: its address as a remark, advice, and the phrase
 * that names both addresses of a mail.
 */
const REMARKS = new RegExp(
  [
    // (sender: a@shop.example), [from a@shop.example], from=<a@shop.example>
    String.raw`[([] ?(?:(?:envelope|sent|mail|smtp|message)[- ]?)?(?:sender|from|originator|return[- ]?path)(?: address)?(?: is)? ?(?:[:=][^()[\]]{0,80}|(?:to\b[^()[\]]{0,80})?)[)\]](?<!\(sender\))`,
    String.raw`[([] ?${OWN_ADDRESS} ?[)\]]`,
    String.raw`\b(?:sender|from|mailfrom|return[- ]?path) ?= ?\S{0,320}`,
    // From a@shop.example to b@example.org, of which the addresses are removed.
    String.raw`\b(?:(?:mail|message|sent|envelope)[- ]?)?from:? ?(?:the )?(?:sender )?(?:${OWN_ADDRESS} )?(?:[<>"' ]{0,6})to\b:?`,
    String.raw`\bsender (?:address )?(?:is )?(?:ok|accepted|valid|verified)\b`,
    String.raw`\bdear (?:\w{1,20} )?sender\b`,
    String.raw`\b(?:return(?:ed|ing|s)?|bounc(?:ed|es|ing)|notif(?:y|ied|ying)|inform(?:ed|ing)?|contact(?:ed|ing)?|tell|ask|sent|send|sending|back|advis(?:e|ed|ing)|alert(?:ed|ing)?) (?:(?:this|your|the|message|mail|e-?mail|it|back|to|original) ){0,4}sender\b`,
  ].join("|"),
  "giu",
);

/**
 * Whether the text speaks of the sender. `about` finds the words that say what is wrong; without
 * them, any word for the sender counts.
 */
export function isAboutSender(text: string, about?: RegExp): boolean {
  if (!SENDER_WORD.test(text) && !SENDER_CHECK.test(text)) return false;
  const plain = text.replace(REMARKS, " ");
  if (SENDER_CHECK.test(plain)) return true;
  const match = about?.exec(plain) ?? null;
  const end = match === null ? plain.length : match.index + match[0].length;
  const last = [...plain.slice(0, end).matchAll(WORDS)].at(-1);
  if (last !== undefined) return last.groups?.["sender"] !== undefined;
  return SENDER_WORD.test(/^[^.;,]*/.exec(plain.slice(end))?.[0] ?? "");
}

/** Whether the text reports a failed check of the sender, which may quote the reply to that check. */
export function reportsSenderCheck(text: string): boolean {
  return SENDER_CHECK.test(text.replace(REMARKS, " "));
}

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => pattern.source).join("|"), "iu");
}
