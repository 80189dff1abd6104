/** Texts in Italian. */

import type { Texts } from "../language.ts";

export const it: Texts = {
  language: "it",
  unsubscribe: "Annulla l’iscrizione",
  subscribe: "Iscriviti",
  newAddress: "un tuo nuovo indirizzo",
  askUnsubscribe: {
    title: "Vuoi annullare l’iscrizione?",
    text: "{project} non invierà più newsletter a {email}.",
  },
  askSubscribe: {
    title: "Vuoi iscriverti?",
    text: "{project} invierà le sue newsletter a {email}.",
  },
  unsubscribed: {
    title: "Iscrizione annullata",
    text: "{project} non invia newsletter a {email}.",
  },
  subscribed: {
    title: "Iscrizione confermata",
    text: "{project} invia le sue newsletter a {email}.",
  },
  manage: "La tua iscrizione",
  note: "Potresti ricevere ancora messaggi sui tuoi ordini o sul tuo account.",
  contactDeleted: {
    title: "Questo link non è più valido",
    text: "Questa e-mail è stata inviata a un indirizzo che nel frattempo è stato cancellato. Se ricevi ancora newsletter, usa il link nella più recente.",
  },
  invalidLink: {
    title: "Questo link non funziona",
    text: "Forse è incompleto. Aprilo di nuovo dall’e-mail o copialo per intero.",
  },
  serverError: {
    title: "Qualcosa è andato storto",
    text: "Si è verificato un errore da parte nostra. Riprova tra qualche minuto.",
  },
  footer: "Ricevi questa e-mail perché hai scelto di ricevere le newsletter di {project}.",
};
