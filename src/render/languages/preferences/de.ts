/** Texts of the preference page in German. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesDe: PreferenceTexts = {
  title: "Ihre Einstellungen",
  choose: "Auswählen, was Sie erhalten, oder eine Pause machen",
  saved: "Ihre Änderungen sind gespeichert.",
  nothingChanged: "Es war nichts zu ändern.",
  topics: "Was möchten Sie erhalten?",
  noTopics:
    "Sie haben kein Thema ausgewählt. Newsletter, die zu keinem Thema gehören, können Sie weiterhin erreichen. Wenn Sie gar keine mehr möchten, bestellen Sie alles ab.",
  pause: "Pause machen",
  pauseHint: "Sie bleiben angemeldet und erhalten bis zum Ende der Pause keine Newsletter.",
  noPause: "Keine Pause",
  pauseMonth: "Einen Monat lang",
  pauseQuarter: "Drei Monate lang",
  pauseUntil: "Bis zu einem bestimmten Tag",
  pauseDay: "Tag, ab dem wieder Newsletter kommen",
  pauseDayFault: "Wählen Sie einen Tag zwischen morgen und heute in einem Jahr.",
  paused: "Sie erhalten bis {date} keine Newsletter.",
  language: "Sprache",
  languageHint: "Die Sprache dieser Seite. {project} kann sie auch für E-Mails verwenden.",
  tracking: "Messung",
  trackingLabel: "{project} darf messen, ob ich E-Mails öffne und welchen Links ich folge",
  trackingHint: "Ohne das Häkchen wird nichts davon aufgezeichnet.",
  save: "Speichern",
  unsubscribeAll: "Alles abbestellen",
  address: "Ihre Adresse",
  addressHint:
    "Wir schicken zuerst eine E-Mail an Ihre bisherige und dann eine an die neue Adresse. Die Adresse wird geändert, sobald Sie beide bestätigt haben.",
  newAddress: "Neue E-Mail-Adresse",
  newAddressFault: "Geben Sie eine vollständige E-Mail-Adresse ein, zum Beispiel name@example.com.",
  changeAddress: "Adresse ändern",
  data: "Ihre Daten",
  dataHint: "Zu Ihrem Schutz schicken wir zuerst einen Link an {email}.",
  sendData: "Kopie meiner Daten anfordern",
  deleteData: "Meine Daten löschen",
  mailSent:
    "Wir haben eine E-Mail an {email} geschickt. Der Link darin gilt 24 Stunden. Falls sie nicht ankommt, sehen Sie im Spam-Ordner nach und versuchen Sie es in einer Stunde noch einmal.",
  unavailable:
    "Das ist auf dieser Seite zurzeit nicht möglich. Bitte antworten Sie auf eine E-Mail von {project}.",
  askExport: {
    title: "Ihre Daten herunterladen?",
    text: "Die Datei enthält die Daten, die {project} über Sie gespeichert hat.",
  },
  download: "Herunterladen",
  view: "Im Browser ansehen",
  askErasure: {
    title: "Ihre Daten löschen?",
    text: "{project} löscht dann die Daten, die über Sie gespeichert sind: Ihre Adresse, Ihre Einstellungen und die E-Mails an Sie. Das lässt sich nicht rückgängig machen.",
  },
  erase: "Meine Daten löschen",
  erased: {
    title: "Ihre Daten sind gelöscht",
    text: "{project} hat die Daten gelöscht, die über Sie gespeichert waren. Die Bestätigung vom {date} hat die Nummer {receipt}.",
  },
  askAddress: {
    title: "Ihre Adresse ändern?",
    text: "{project} schreibt dann an {email}. Zuvor schicken wir eine E-Mail dorthin, damit die neue Adresse bestätigt werden kann.",
  },
  acceptAddress: "Ja, ändern",
  addressAccepted: {
    title: "Bestätigen Sie nun die neue Adresse",
    text: "Wir haben eine E-Mail an {email} geschickt. Die Adresse wird geändert, sobald Sie sie dort bestätigt haben. Der Link gilt 24 Stunden.",
  },
  askNewAddress: {
    title: "Diese Adresse verwenden?",
    text: "{project} schreibt Ihnen von nun an unter {email}.",
  },
  confirmAddress: "Adresse bestätigen",
  addressChanged: {
    title: "Ihre Adresse ist geändert",
    text: "{project} schreibt jetzt an {email}.",
  },
  linkOver: {
    title: "Dieser Link ist abgelaufen",
    text: "Er wurde schon benutzt oder ist älter als 24 Stunden. Um neu zu beginnen, öffnen Sie Ihre Einstellungen über den Link in einer E-Mail.",
  },
  exportMail: {
    subject: "Ihre Daten bei {project}",
    text: "Sie haben eine Kopie der Daten angefordert, die {project} über Sie gespeichert hat. Sie können sie 24 Stunden lang herunterladen.",
    button: "Meine Daten herunterladen",
  },
  erasureMail: {
    subject: "Ihre Daten bei {project} löschen?",
    text: "Sie haben {project} gebeten, die über Sie gespeicherten Daten zu löschen. Bitte bestätigen Sie das innerhalb von 24 Stunden. Es lässt sich nicht rückgängig machen.",
    button: "Weiter",
  },
  addressMail: {
    subject: "Ihre Adresse bei {project} ändern?",
    text: "Sie haben {project} gebeten, künftig an {email} statt an diese Adresse zu schreiben. Bitte bestätigen Sie das innerhalb von 24 Stunden.",
    button: "Weiter",
  },
  newAddressMail: {
    subject: "Bestätigen Sie Ihre Adresse bei {project}",
    text: "Sie haben {project} gebeten, künftig an diese Adresse zu schreiben. Bitte bestätigen Sie das innerhalb von 24 Stunden.",
    button: "Weiter",
  },
  addressNotice: {
    subject: "Ihre Adresse bei {project} ist geändert",
    text: "{project} schreibt jetzt an {email} statt an diese Adresse. Falls Sie das nicht wollten, antworten Sie bitte auf diese E-Mail.",
  },
  mailNote:
    "Falls Sie das nicht angefordert haben, brauchen Sie nichts zu tun. Dann bleibt alles, wie es ist.",
};
