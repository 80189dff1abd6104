/** Texts in French. */

import type { Texts } from "../language.ts";

export const fr: Texts = {
  language: "fr",
  unsubscribe: "Se désabonner",
  subscribe: "S’abonner",
  newAddress: "votre nouvelle adresse",
  askUnsubscribe: {
    title: "Se désabonner ?",
    text: "{project} n’enverra plus de newsletters à {email}.",
  },
  askSubscribe: { title: "S’abonner ?", text: "{project} enverra ses newsletters à {email}." },
  unsubscribed: {
    title: "Désabonnement confirmé",
    text: "{project} n’envoie aucune newsletter à {email}.",
  },
  subscribed: { title: "Abonnement confirmé", text: "{project} envoie ses newsletters à {email}." },
  manage: "Votre abonnement",
  note: "Vous pouvez encore recevoir des messages concernant vos commandes ou votre compte.",
  contactDeleted: {
    title: "Ce lien n’est plus valable",
    text: "Cet e-mail a été envoyé à une adresse qui a été supprimée depuis. Si vous recevez encore des newsletters, utilisez le lien de la plus récente.",
  },
  invalidLink: {
    title: "Ce lien ne fonctionne pas",
    text: "Il est peut-être incomplet. Ouvrez-le de nouveau depuis l’e-mail ou copiez-le en entier.",
  },
  serverError: {
    title: "Cela n’a pas fonctionné",
    text: "Une erreur s’est produite de notre côté. Veuillez réessayer dans quelques minutes.",
  },
  footer:
    "Vous recevez cet e-mail parce que vous avez choisi de recevoir les newsletters de {project}.",
};
