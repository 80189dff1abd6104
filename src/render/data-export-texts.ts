/**
 * Texts of the page that shows a person all data that a project has stored about them, in all
 * supported languages.
 */

import type { Texts } from "./language.ts";
import { dataExportDe } from "./languages/data-export/de.ts";
import { dataExportEn } from "./languages/data-export/en.ts";
import { dataExportEs } from "./languages/data-export/es.ts";
import { dataExportFr } from "./languages/data-export/fr.ts";
import { dataExportIt } from "./languages/data-export/it.ts";
import { dataExportJa } from "./languages/data-export/ja.ts";
import { dataExportNl } from "./languages/data-export/nl.ts";
import { dataExportPl } from "./languages/data-export/pl.ts";
import { dataExportPt } from "./languages/data-export/pt.ts";

/** The kinds of data, which are also the members of the JSON document. */
export type DataExportSection =
  | "contact"
  | "consents"
  | "topics"
  | "segments"
  | "suppression"
  | "formSubmissions"
  | "mails"
  | "receivedMails"
  | "workflows"
  | "importFaults"
  | "events";

/** The members of the records that the page shows. */
export type DataExportField =
  | "at"
  | "attempts"
  | "bouncedAt"
  | "cells"
  | "chosenAt"
  | "class"
  | "clickedAt"
  | "clientAddress"
  | "complainedAt"
  | "completedAt"
  | "content"
  | "context"
  | "createdAt"
  | "data"
  | "deliveredAt"
  | "detail"
  | "digest"
  | "email"
  | "exitReason"
  | "expiresAt"
  | "form"
  | "from"
  | "id"
  | "importedAt"
  | "isSubscribed"
  | "isTopicDeleted"
  | "kind"
  | "line"
  | "message"
  | "name"
  | "openedAt"
  | "outcome"
  | "pausedUntil"
  | "purpose"
  | "reason"
  | "receivedAt"
  | "reports"
  | "segment"
  | "sender"
  | "sentAt"
  | "source"
  | "startedAt"
  | "status"
  | "stepId"
  | "steps"
  | "subject"
  | "subscribed"
  | "tags"
  | "text"
  | "to"
  | "topic"
  | "tracking"
  | "type"
  | "updatedAt"
  | "variables"
  | "wording"
  | "workflow";

export type DataExportTexts = {
  /** `{email}` is the address of the person. */
  title: string;
  /** `{project}` is the project's name, and `{date}` the time at which the page was made. */
  madeAt: string;
  /** `{shown}` is the number of entries of each kind, and `{bodies}` that of the emails with text. */
  limits: string;
  /** Explains states such as DELIVERED. */
  codes: string;
  /** Shown instead of a table without entries. */
  nothing: string;
  /** Heading of the column with the labels of a single entry. */
  field: string;
  /** Heading of the column with the values of a single entry. */
  value: string;
  yes: string;
  no: string;
  /** Headings of the kinds of data. */
  sections: Readonly<Record<DataExportSection, string>>;
  /** Labels of the members. */
  fields: Readonly<Record<DataExportField, string>>;
};

const BY_LANGUAGE: Readonly<Record<string, DataExportTexts>> = {
  en: dataExportEn,
  de: dataExportDe,
  fr: dataExportFr,
  es: dataExportEs,
  nl: dataExportNl,
  pt: dataExportPt,
  it: dataExportIt,
  pl: dataExportPl,
  ja: dataExportJa,
};

/** The texts in the language of other texts. */
export const dataExportTexts = ({ language }: Texts): DataExportTexts =>
  BY_LANGUAGE[language] ?? dataExportEn;
