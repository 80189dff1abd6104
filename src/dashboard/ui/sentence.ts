/** Texts of the server, which begin in lower case, as sentences. */

export const withCapital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const withEnd = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The text with a capital letter and a full stop. */
export const sentence = (text: string): string => withEnd(withCapital(text));
