/**
 * Texts of the preference page, of the pages that confirm the requests of a person, and of the mails
 * that lead to them, in all supported languages.
 */

import type { PageText, Texts } from "./language.ts";
import { preferencesDe } from "./languages/preferences/de.ts";
import { preferencesEn } from "./languages/preferences/en.ts";
import { preferencesEs } from "./languages/preferences/es.ts";
import { preferencesFr } from "./languages/preferences/fr.ts";
import { preferencesIt } from "./languages/preferences/it.ts";
import { preferencesJa } from "./languages/preferences/ja.ts";
import { preferencesNl } from "./languages/preferences/nl.ts";
import { preferencesPl } from "./languages/preferences/pl.ts";
import { preferencesPt } from "./languages/preferences/pt.ts";

/** A mail with one button. */
type MailText = { subject: string; text: string; button: string };

/** `{project}` is the project's name, `{email}` an address, `{date}` a day, and `{receipt}` an id. */
export type PreferenceTexts = {
  title: string;
  /** Link to the page. */
  choose: string;
  /** Said after the form was saved. */
  saved: string;
  nothingChanged: string;
  /** Heading of the topics. */
  topics: string;
  /** Said after a person has left all topics. */
  noTopics: string;
  pause: string;
  pauseHint: string;
  noPause: string;
  pauseMonth: string;
  pauseQuarter: string;
  pauseUntil: string;
  /** Label of the field of the day. */
  pauseDay: string;
  pauseDayFault: string;
  /** Says that a break is under way. */
  paused: string;
  language: string;
  languageHint: string;
  tracking: string;
  trackingLabel: string;
  trackingHint: string;
  save: string;
  unsubscribeAll: string;
  address: string;
  addressHint: string;
  newAddress: string;
  newAddressFault: string;
  changeAddress: string;
  data: string;
  dataHint: string;
  sendData: string;
  deleteData: string;
  /** Said after a person has asked for the address, the data or the erasure. */
  mailSent: string;
  /** Said if the project cannot send such mail at present. */
  unavailable: string;
  askExport: PageText;
  download: string;
  view: string;
  askErasure: PageText;
  erase: string;
  erased: PageText;
  askAddress: PageText;
  acceptAddress: string;
  addressAccepted: PageText;
  askNewAddress: PageText;
  confirmAddress: string;
  addressChanged: PageText;
  /** Page for a link that was used, or is too old. */
  linkOver: PageText;
  exportMail: MailText;
  erasureMail: MailText;
  addressMail: MailText;
  newAddressMail: MailText;
  /** Tells the former address that it was replaced. */
  addressNotice: { subject: string; text: string };
  /** Last line of the mails with a button. */
  mailNote: string;
};

const BY_LANGUAGE: Readonly<Record<string, PreferenceTexts>> = {
  en: preferencesEn,
  de: preferencesDe,
  fr: preferencesFr,
  es: preferencesEs,
  nl: preferencesNl,
  pt: preferencesPt,
  it: preferencesIt,
  pl: preferencesPl,
  ja: preferencesJa,
};

/** The texts in the language of other texts. */
export const preferenceTexts = ({ language }: Texts): PreferenceTexts =>
  BY_LANGUAGE[language] ?? preferencesEn;
