/** Texts of the preference page in Italian. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesIt: PreferenceTexts = {
  title: "Le tue preferenze",
  choose: "Scegli che cosa ricevere o fai una pausa",
  saved: "Le modifiche sono state salvate.",
  nothingChanged: "Non c’era nulla da modificare.",
  topics: "Che cosa vuoi ricevere?",
  noTopics:
    "Non hai scelto nessun argomento. Le newsletter che non appartengono a un argomento possono ancora arrivarti. Se non ne vuoi più nessuna, annulla tutte le iscrizioni.",
  pause: "Fai una pausa",
  pauseHint: "L’iscrizione resta attiva e non ricevi newsletter fino alla fine della pausa.",
  noPause: "Nessuna pausa",
  pauseMonth: "Per un mese",
  pauseQuarter: "Per tre mesi",
  pauseUntil: "Fino a un giorno a tua scelta",
  pauseDay: "Giorno in cui le newsletter riprendono",
  pauseDayFault: "Scegli un giorno compreso tra domani e un anno da oggi.",
  paused: "Non ricevi newsletter fino al {date}.",
  language: "Lingua",
  languageHint: "La lingua di questa pagina. {project} può usarla anche per le sue e-mail.",
  tracking: "Misurazione",
  trackingLabel: "{project} può misurare se apro le sue e-mail e quali link seguo",
  trackingHint: "Se la casella non è selezionata, non viene registrato nulla di tutto ciò.",
  save: "Salva",
  unsubscribeAll: "Annulla tutte le iscrizioni",
  address: "Il tuo indirizzo",
  addressHint:
    "Inviamo prima un’e-mail al tuo indirizzo attuale e poi una a quello nuovo. L’indirizzo cambia quando li hai confermati entrambi.",
  newAddress: "Nuovo indirizzo e-mail",
  newAddressFault: "Inserisci un indirizzo e-mail completo, per esempio nome@example.com.",
  changeAddress: "Cambia indirizzo",
  data: "I tuoi dati",
  dataHint: "Per proteggerti, inviamo prima un link a {email}.",
  sendData: "Richiedi una copia dei miei dati",
  deleteData: "Elimina i miei dati",
  mailSent:
    "Abbiamo inviato un’e-mail a {email}. Il link vale 24 ore. Se non arriva, controlla la cartella dello spam e riprova tra un’ora.",
  unavailable: "Al momento non è possibile da questa pagina. Rispondi a un’e-mail di {project}.",
  askExport: {
    title: "Vuoi scaricare i tuoi dati?",
    text: "Il file contiene i dati che {project} ha memorizzato su di te.",
  },
  download: "Scarica",
  view: "Visualizza nel browser",
  askErasure: {
    title: "Vuoi eliminare i tuoi dati?",
    text: "{project} eliminerà i dati che ha memorizzato su di te: il tuo indirizzo, le tue scelte e le e-mail che ti ha inviato. L’operazione non si può annullare.",
  },
  erase: "Elimina i miei dati",
  erased: {
    title: "I tuoi dati sono stati eliminati",
    text: "{project} ha eliminato i dati che aveva memorizzato su di te. La ricevuta del {date} ha il numero {receipt}.",
  },
  askAddress: {
    title: "Vuoi cambiare indirizzo?",
    text: "{project} scriverà a {email}. Prima inviamo lì un’e-mail, in modo che il nuovo indirizzo possa essere confermato.",
  },
  acceptAddress: "Sì, cambialo",
  addressAccepted: {
    title: "Ora conferma il nuovo indirizzo",
    text: "Abbiamo inviato un’e-mail a {email}. L’indirizzo cambia quando lo hai confermato lì. Il link vale 24 ore.",
  },
  askNewAddress: {
    title: "Vuoi usare questo indirizzo?",
    text: "Da ora {project} scriverà a {email}.",
  },
  confirmAddress: "Conferma indirizzo",
  addressChanged: {
    title: "Il tuo indirizzo è cambiato",
    text: "{project} ora scrive a {email}.",
  },
  linkOver: {
    title: "Questo link è scaduto",
    text: "È già stato usato oppure ha più di 24 ore. Per ricominciare, apri le tue preferenze con il link in un’e-mail.",
  },
  exportMail: {
    subject: "I tuoi dati presso {project}",
    text: "Hai richiesto una copia dei dati che {project} ha memorizzato su di te. Puoi scaricarla entro 24 ore.",
    button: "Scarica i miei dati",
  },
  erasureMail: {
    subject: "Vuoi eliminare i tuoi dati presso {project}?",
    text: "Hai chiesto a {project} di eliminare i dati che ha memorizzato su di te. Conferma entro 24 ore. L’operazione non si può annullare.",
    button: "Continua",
  },
  addressMail: {
    subject: "Vuoi cambiare il tuo indirizzo presso {project}?",
    text: "Hai chiesto a {project} di scrivere a {email} invece che a questo indirizzo. Conferma entro 24 ore.",
    button: "Continua",
  },
  newAddressMail: {
    subject: "Conferma il tuo indirizzo presso {project}",
    text: "Hai chiesto a {project} di scrivere d’ora in poi a questo indirizzo. Conferma entro 24 ore.",
    button: "Continua",
  },
  addressNotice: {
    subject: "Il tuo indirizzo presso {project} è cambiato",
    text: "{project} ora scrive a {email} invece che a questo indirizzo. Se non lo volevi, rispondi a questa e-mail.",
  },
  mailNote: "Se non lo hai chiesto tu, ignora questa e-mail. Non cambierà nulla.",
};
