/** Texts of sign-up forms in Italian. */

import type { FormTexts } from "../../form-texts.ts";

export const itForm: FormTexts = {
  email: "Indirizzo e-mail",
  optional: "facoltativo",
  choose: "Scegli",
  topics: "Che cosa vuoi ricevere?",
  trap: "Lascia vuoto questo campo",
  summary: "Controlla i campi segnalati.",
  errors: {
    required: "Compila questo campo.",
    email: "Inserisci un indirizzo e-mail come ada@example.com.",
    tooLong: "Inserisci al massimo {max} caratteri.",
    number: "Inserisci un numero.",
    date: "Inserisci una data.",
    choice: "Scegli una delle voci.",
    checkbox: "Seleziona questa casella.",
    consent: "Dai il tuo consenso.",
  },
  checkInbox: {
    title: "Controlla la tua posta",
    text: "Ti abbiamo inviato un’e-mail con un link. La tua iscrizione inizia quando apri il link e confermi.",
  },
  thanks: {
    title: "Grazie per l’iscrizione",
    text: "Se ci serve una tua conferma, troverai un’e-mail con un link nella tua posta.",
  },
  closed: {
    title: "Questo modulo è chiuso",
    text: "Al momento non è possibile iscriversi qui.",
  },
  tooMany: { title: "Troppe richieste", text: "Riprova tra un’ora." },
  foreign: {
    title: "Questo modulo non si può usare qui",
    text: "Il sito da cui arrivi non può usare questo modulo.",
  },
  askConfirm: {
    title: "Conferma la tua iscrizione",
    text: "{project} invierà poi le sue newsletter a {email}.",
  },
  confirm: "Conferma",
  confirmed: {
    title: "La tua iscrizione è confermata",
    text: "Grazie. {project} invierà le sue newsletter a {email}.",
  },
  alreadyConfirmed: {
    title: "Hai già confermato",
    text: "La tua iscrizione era già confermata. Non devi fare altro.",
  },
  expired: {
    title: "Questo link non è più valido",
    text: "I link di conferma valgono sette giorni. Compila di nuovo il modulo per riceverne uno nuovo.",
  },
  mail: {
    subject: "Conferma la tua iscrizione a {project}",
    text: "Qualcuno, speriamo tu, ha chiesto a {project} di inviare le sue newsletter a questo indirizzo. Confermalo:",
    button: "Conferma l’iscrizione",
    ignore:
      "Se non sei stato tu, ignora questa e-mail: non verrà inviato nulla. Il link vale sette giorni.",
  },
};
