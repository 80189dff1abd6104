/** Texts in German. */

import type { Texts } from "../language.ts";

export const de: Texts = {
  language: "de",
  unsubscribe: "Abbestellen",
  subscribe: "Abonnieren",
  newAddress: "Ihre neue Adresse",
  askUnsubscribe: {
    title: "Newsletter abbestellen?",
    text: "{project} schickt dann keine Newsletter mehr an {email}.",
  },
  askSubscribe: {
    title: "Newsletter abonnieren?",
    text: "{project} schickt dann Newsletter an {email}.",
  },
  unsubscribed: {
    title: "Sie sind abgemeldet",
    text: "{project} schickt keine Newsletter an {email}.",
  },
  subscribed: { title: "Sie sind angemeldet", text: "{project} schickt Newsletter an {email}." },
  manage: "Ihr Abonnement",
  note: "Nachrichten zu Bestellungen oder zu Ihrem Konto können weiterhin kommen.",
  contactDeleted: {
    title: "Dieser Link gilt nicht mehr",
    text: "Diese E-Mail ging an eine Adresse, die inzwischen gelöscht wurde. Falls Sie weiterhin Newsletter erhalten, nutzen Sie den Link im neuesten Newsletter.",
  },
  invalidLink: {
    title: "Dieser Link funktioniert nicht",
    text: "Vielleicht ist er unvollständig. Öffnen Sie ihn noch einmal aus der E-Mail oder kopieren Sie ihn ganz.",
  },
  serverError: {
    title: "Das hat nicht geklappt",
    text: "Bei uns ist ein Fehler aufgetreten. Bitte versuchen Sie es in ein paar Minuten noch einmal.",
  },
  footer: "Sie erhalten diese E-Mail, weil Sie Newsletter von {project} abonniert haben.",
};
