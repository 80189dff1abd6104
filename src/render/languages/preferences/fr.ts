/** Texts of the preference page in French. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesFr: PreferenceTexts = {
  title: "Vos préférences",
  choose: "Choisir ce que vous recevez ou faire une pause",
  saved: "Vos modifications sont enregistrées.",
  nothingChanged: "Il n’y avait rien à modifier.",
  topics: "Que souhaitez-vous recevoir ?",
  noTopics:
    "Vous n’avez choisi aucun thème. Les newsletters qui ne relèvent d’aucun thème peuvent encore vous parvenir. Pour ne plus en recevoir du tout, désabonnez-vous de tout.",
  pause: "Faire une pause",
  pauseHint:
    "Votre abonnement se poursuit, mais aucune newsletter n’arrive jusqu’à la fin de la pause.",
  noPause: "Pas de pause",
  pauseMonth: "Pendant un mois",
  pauseQuarter: "Pendant trois mois",
  pauseUntil: "Jusqu’à une date de votre choix",
  pauseDay: "Jour de reprise des newsletters",
  pauseDayFault: "Choisissez un jour entre demain et dans un an.",
  paused: "Vous ne recevez aucune newsletter jusqu’au {date}.",
  language: "Langue",
  languageHint: "La langue de cette page. {project} peut aussi l’utiliser pour ses e-mails.",
  tracking: "Mesure",
  trackingLabel: "{project} peut mesurer si j’ouvre ses e-mails et quels liens je suis",
  trackingHint: "Si la case n’est pas cochée, rien de cela n’est enregistré.",
  save: "Enregistrer",
  unsubscribeAll: "Se désabonner de tout",
  address: "Votre adresse",
  addressHint:
    "Nous envoyons d’abord un e-mail à votre adresse actuelle, puis un autre à la nouvelle. L’adresse est modifiée dès que vous avez confirmé les deux.",
  newAddress: "Nouvelle adresse e-mail",
  newAddressFault: "Saisissez une adresse e-mail complète, par exemple nom@example.com.",
  changeAddress: "Modifier l’adresse",
  data: "Vos données",
  dataHint: "Pour votre protection, nous envoyons d’abord un lien à {email}.",
  sendData: "Demander une copie de mes données",
  deleteData: "Supprimer mes données",
  mailSent:
    "Nous avons envoyé un e-mail à {email}. Son lien est valable 24 heures. S’il n’arrive pas, regardez dans vos courriers indésirables, puis réessayez dans une heure.",
  unavailable:
    "Cela n’est pas possible sur cette page pour le moment. Veuillez répondre à un e-mail de {project}.",
  askExport: {
    title: "Télécharger vos données ?",
    text: "Le fichier contient les données que {project} a enregistrées à votre sujet.",
  },
  download: "Télécharger",
  view: "Afficher dans le navigateur",
  askErasure: {
    title: "Supprimer vos données ?",
    text: "{project} supprimera les données enregistrées à votre sujet : votre adresse, vos choix et les e-mails qui vous ont été envoyés. Cette action est irréversible.",
  },
  erase: "Supprimer mes données",
  erased: {
    title: "Vos données sont supprimées",
    text: "{project} a supprimé les données enregistrées à votre sujet. L’attestation du {date} porte le numéro {receipt}.",
  },
  askAddress: {
    title: "Modifier votre adresse ?",
    text: "{project} écrira alors à {email}. Nous y envoyons d’abord un e-mail pour que la nouvelle adresse puisse être confirmée.",
  },
  acceptAddress: "Oui, modifier",
  addressAccepted: {
    title: "Confirmez maintenant la nouvelle adresse",
    text: "Nous avons envoyé un e-mail à {email}. L’adresse est modifiée dès que vous l’y avez confirmée. Le lien est valable 24 heures.",
  },
  askNewAddress: {
    title: "Utiliser cette adresse ?",
    text: "{project} écrira désormais à {email}.",
  },
  confirmAddress: "Confirmer l’adresse",
  addressChanged: {
    title: "Votre adresse est modifiée",
    text: "{project} écrit désormais à {email}.",
  },
  linkOver: {
    title: "Ce lien a expiré",
    text: "Il a déjà été utilisé, ou il date de plus de 24 heures. Pour recommencer, ouvrez vos préférences avec le lien d’un e-mail.",
  },
  exportMail: {
    subject: "Vos données chez {project}",
    text: "Vous avez demandé une copie des données que {project} a enregistrées à votre sujet. Vous pouvez la télécharger pendant 24 heures.",
    button: "Télécharger mes données",
  },
  erasureMail: {
    subject: "Supprimer vos données chez {project} ?",
    text: "Vous avez demandé à {project} de supprimer les données enregistrées à votre sujet. Veuillez le confirmer dans les 24 heures. Cette action est irréversible.",
    button: "Continuer",
  },
  addressMail: {
    subject: "Modifier votre adresse chez {project} ?",
    text: "Vous avez demandé à {project} d’écrire à {email} au lieu de cette adresse. Veuillez le confirmer dans les 24 heures.",
    button: "Continuer",
  },
  newAddressMail: {
    subject: "Confirmez votre adresse chez {project}",
    text: "Vous avez demandé à {project} d’écrire désormais à cette adresse. Veuillez le confirmer dans les 24 heures.",
    button: "Continuer",
  },
  addressNotice: {
    subject: "Votre adresse chez {project} est modifiée",
    text: "{project} écrit désormais à {email} au lieu de cette adresse. Si vous ne le vouliez pas, veuillez répondre à cet e-mail.",
  },
  mailNote: "Si vous n’avez rien demandé, vous pouvez ignorer cet e-mail. Rien ne sera modifié.",
};
