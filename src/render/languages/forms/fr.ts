/** Texts of sign-up forms in French. */

import type { FormTexts } from "../../form-texts.ts";

export const frForm: FormTexts = {
  email: "Adresse e-mail",
  optional: "facultatif",
  choose: "Veuillez choisir",
  topics: "Que souhaitez-vous recevoir ?",
  trap: "Laissez ce champ vide",
  summary: "Veuillez vérifier les champs signalés.",
  errors: {
    required: "Veuillez remplir ce champ.",
    email: "Veuillez saisir une adresse e-mail telle que ada@example.com.",
    tooLong: "Veuillez saisir {max} caractères au maximum.",
    number: "Veuillez saisir un nombre.",
    date: "Veuillez saisir une date.",
    choice: "Veuillez choisir l’une des entrées.",
    checkbox: "Veuillez cocher cette case.",
    consent: "Veuillez donner votre consentement.",
  },
  checkInbox: {
    title: "Consultez votre boîte de réception",
    text: "Nous vous avons envoyé un e-mail contenant un lien. Votre abonnement commence lorsque vous ouvrez ce lien et confirmez.",
  },
  thanks: {
    title: "Merci pour votre inscription",
    text: "Si nous avons besoin d’une confirmation, vous trouverez un e-mail contenant un lien dans votre boîte de réception.",
  },
  closed: {
    title: "Ce formulaire est fermé",
    text: "Il n’est pas possible de s’abonner ici pour le moment.",
  },
  tooMany: { title: "Trop de demandes", text: "Veuillez réessayer dans une heure." },
  foreign: {
    title: "Ce formulaire n’est pas utilisable ici",
    text: "Le site d’où vous venez n’est pas autorisé à utiliser ce formulaire.",
  },
  askConfirm: {
    title: "Confirmez votre abonnement",
    text: "{project} enverra alors ses newsletters à {email}.",
  },
  confirm: "Confirmer",
  confirmed: {
    title: "Votre abonnement est confirmé",
    text: "Merci. {project} enverra ses newsletters à {email}.",
  },
  alreadyConfirmed: {
    title: "Vous avez déjà confirmé",
    text: "Votre abonnement a déjà été confirmé. Vous n’avez rien d’autre à faire.",
  },
  expired: {
    title: "Ce lien n’est plus valable",
    text: "Les liens de confirmation sont valables sept jours. Veuillez remplir de nouveau le formulaire pour en recevoir un nouveau.",
  },
  mail: {
    subject: "Veuillez confirmer votre abonnement à {project}",
    text: "Quelqu’un, vous nous l’espérons, a demandé à {project} d’envoyer ses newsletters à cette adresse. Veuillez le confirmer :",
    button: "Confirmer l’abonnement",
    ignore:
      "Si ce n’était pas vous, ignorez cet e-mail : rien ne vous sera envoyé. Le lien est valable sept jours.",
  },
};
