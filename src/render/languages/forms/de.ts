/** Texts of sign-up forms in German. */

import type { FormTexts } from "../../form-texts.ts";

export const deForm: FormTexts = {
  email: "E-Mail-Adresse",
  optional: "optional",
  choose: "Bitte wählen",
  topics: "Was möchten Sie erhalten?",
  trap: "Dieses Feld leer lassen",
  summary: "Bitte prüfen Sie die markierten Felder.",
  errors: {
    required: "Bitte füllen Sie dieses Feld aus.",
    email: "Bitte geben Sie eine E-Mail-Adresse wie ada@example.com ein.",
    tooLong: "Bitte geben Sie höchstens {max} Zeichen ein.",
    number: "Bitte geben Sie eine Zahl ein.",
    date: "Bitte geben Sie ein Datum ein.",
    choice: "Bitte wählen Sie einen der Einträge.",
    checkbox: "Bitte setzen Sie hier ein Häkchen.",
    consent: "Bitte stimmen Sie zu.",
  },
  checkInbox: {
    title: "Bitte sehen Sie in Ihr Postfach",
    text: "Wir haben Ihnen eine E-Mail mit einem Link geschickt. Ihr Abonnement beginnt, wenn Sie den Link öffnen und bestätigen.",
  },
  thanks: {
    title: "Danke für Ihre Anmeldung",
    text: "Falls wir eine Bestätigung von Ihnen brauchen, finden Sie in Ihrem Postfach eine E-Mail mit einem Link.",
  },
  closed: {
    title: "Dieses Formular ist geschlossen",
    text: "Zurzeit sind hier keine neuen Anmeldungen möglich.",
  },
  tooMany: {
    title: "Zu viele Anfragen",
    text: "Bitte versuchen Sie es in einer Stunde noch einmal.",
  },
  foreign: {
    title: "Dieses Formular gilt hier nicht",
    text: "Die Website, von der Sie kommen, darf dieses Formular nicht verwenden.",
  },
  askConfirm: {
    title: "Abonnement bestätigen",
    text: "{project} schickt dann Newsletter an {email}.",
  },
  confirm: "Bestätigen",
  confirmed: {
    title: "Sie sind angemeldet",
    text: "Vielen Dank. {project} schickt Newsletter an {email}.",
  },
  alreadyConfirmed: {
    title: "Sie haben schon bestätigt",
    text: "Ihr Abonnement wurde bereits bestätigt. Sie müssen nichts weiter tun.",
  },
  expired: {
    title: "Dieser Link gilt nicht mehr",
    text: "Links in Bestätigungsmails gelten sieben Tage. Bitte füllen Sie das Formular noch einmal aus, um einen neuen zu bekommen.",
  },
  mail: {
    subject: "Bitte bestätigen Sie Ihr Abonnement bei {project}",
    text: "Jemand, hoffentlich Sie, hat {project} gebeten, Newsletter an diese Adresse zu schicken. Bitte bestätigen Sie das:",
    button: "Abonnement bestätigen",
    ignore:
      "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wird nichts verschickt. Der Link gilt sieben Tage.",
  },
};
