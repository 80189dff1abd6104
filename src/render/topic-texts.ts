/**
 * Texts that recipients read about a topic, in all supported languages: the footer of its mails and the
 * pages that their links open. In each text, `{topic}` is its name, `{project}` the project's and
 * `{email}` the recipient's address.
 */

import type { PageText } from "./language.ts";

type TopicTexts = {
  /** Reason why the recipient gets this mail. */
  footer: string;
  /** Page that asks for confirmation. */
  askUnsubscribe: PageText;
  /** Page that states that the contact is not in the topic. */
  unsubscribed: PageText;
  /** Page that states that the contact is in the topic. */
  subscribed: PageText;
  /** Button that unsubscribes from all topics. */
  everything: string;
  /** Note on the page of a contact who has left one topic and may get mail of others. */
  others: string;
};

const TEXTS: Readonly<Record<string, TopicTexts>> = {
  en: {
    footer: "You receive this email because you are subscribed to “{topic}” from {project}.",
    askUnsubscribe: {
      title: "Unsubscribe from “{topic}”?",
      text: "{project} will no longer send “{topic}” to {email}.",
    },
    unsubscribed: {
      title: "You are unsubscribed from “{topic}”",
      text: "{project} no longer sends “{topic}” to {email}.",
    },
    subscribed: {
      title: "You are subscribed to “{topic}”",
      text: "{project} sends “{topic}” to {email}.",
    },
    everything: "Unsubscribe from everything",
    others: "You may still get other newsletters from {project}.",
  },
  de: {
    footer: "Sie erhalten diese E-Mail, weil Sie „{topic}“ von {project} abonniert haben.",
    askUnsubscribe: {
      title: "„{topic}“ abbestellen?",
      text: "{project} schickt dann „{topic}“ nicht mehr an {email}.",
    },
    unsubscribed: {
      title: "„{topic}“ ist abbestellt",
      text: "{project} schickt „{topic}“ nicht mehr an {email}.",
    },
    subscribed: {
      title: "„{topic}“ ist abonniert",
      text: "{project} schickt „{topic}“ an {email}.",
    },
    everything: "Alles abbestellen",
    others: "Andere Newsletter von {project} erhalten Sie möglicherweise weiterhin.",
  },
  fr: {
    footer: "Vous recevez cet e-mail parce que vous êtes abonné à « {topic} » de {project}.",
    askUnsubscribe: {
      title: "Se désabonner de « {topic} » ?",
      text: "{project} n’enverra plus « {topic} » à {email}.",
    },
    unsubscribed: {
      title: "Désabonnement de « {topic} » confirmé",
      text: "{project} n’envoie plus « {topic} » à {email}.",
    },
    subscribed: {
      title: "Abonnement à « {topic} » confirmé",
      text: "{project} envoie « {topic} » à {email}.",
    },
    everything: "Se désabonner de tout",
    others: "Vous pouvez encore recevoir d’autres newsletters de {project}.",
  },
  es: {
    footer: "Recibe este correo porque está suscrito a «{topic}» de {project}.",
    askUnsubscribe: {
      title: "¿Darse de baja de «{topic}»?",
      text: "{project} ya no enviará «{topic}» a {email}.",
    },
    unsubscribed: {
      title: "Baja de «{topic}» confirmada",
      text: "{project} ya no envía «{topic}» a {email}.",
    },
    subscribed: {
      title: "Suscripción a «{topic}» confirmada",
      text: "{project} envía «{topic}» a {email}.",
    },
    everything: "Darse de baja de todo",
    others: "Es posible que siga recibiendo otros boletines de {project}.",
  },
  nl: {
    footer: "U ontvangt deze e-mail omdat u bent ingeschreven voor ‘{topic}’ van {project}.",
    askUnsubscribe: {
      title: "Uitschrijven voor ‘{topic}’?",
      text: "{project} stuurt ‘{topic}’ dan niet meer naar {email}.",
    },
    unsubscribed: {
      title: "U bent uitgeschreven voor ‘{topic}’",
      text: "{project} stuurt ‘{topic}’ niet meer naar {email}.",
    },
    subscribed: {
      title: "U bent ingeschreven voor ‘{topic}’",
      text: "{project} stuurt ‘{topic}’ naar {email}.",
    },
    everything: "Voor alles uitschrijven",
    others: "U ontvangt mogelijk nog andere nieuwsbrieven van {project}.",
  },
  pt: {
    footer: "Você recebe este e-mail porque está inscrito em “{topic}” de {project}.",
    askUnsubscribe: {
      title: "Cancelar a inscrição em “{topic}”?",
      text: "{project} não enviará mais “{topic}” para {email}.",
    },
    unsubscribed: {
      title: "Inscrição em “{topic}” cancelada",
      text: "{project} não envia mais “{topic}” para {email}.",
    },
    subscribed: {
      title: "Inscrição em “{topic}” confirmada",
      text: "{project} envia “{topic}” para {email}.",
    },
    everything: "Cancelar todas as inscrições",
    others: "Você ainda pode receber outras newsletters de {project}.",
  },
  it: {
    footer: "Ricevi questa e-mail perché hai scelto di ricevere «{topic}» da {project}.",
    askUnsubscribe: {
      title: "Vuoi annullare l’iscrizione a «{topic}»?",
      text: "{project} non invierà più «{topic}» a {email}.",
    },
    unsubscribed: {
      title: "Iscrizione a «{topic}» annullata",
      text: "{project} non invia più «{topic}» a {email}.",
    },
    subscribed: {
      title: "Iscrizione a «{topic}» confermata",
      text: "{project} invia «{topic}» a {email}.",
    },
    everything: "Annulla tutte le iscrizioni",
    others: "Potresti ricevere ancora altre newsletter di {project}.",
  },
  pl: {
    footer: "Otrzymujesz tę wiadomość, ponieważ subskrybujesz „{topic}” nadawcy {project}.",
    askUnsubscribe: {
      title: "Czy chcesz się wypisać z „{topic}”?",
      text: "{project} nie będzie już wysyłać „{topic}” na adres {email}.",
    },
    unsubscribed: {
      title: "Wypisano z „{topic}”",
      text: "{project} nie wysyła już „{topic}” na adres {email}.",
    },
    subscribed: {
      title: "Zapisano do „{topic}”",
      text: "{project} wysyła „{topic}” na adres {email}.",
    },
    everything: "Wypisz się ze wszystkiego",
    others: "Nadal możesz otrzymywać inne newslettery nadawcy {project}.",
  },
  ja: {
    footer: "このメールは、{project} の「{topic}」を購読されている方にお送りしています。",
    askUnsubscribe: {
      title: "「{topic}」の配信を停止しますか？",
      text: "{project} から {email} への「{topic}」の配信を停止します。",
    },
    unsubscribed: {
      title: "「{topic}」の配信を停止しました",
      text: "{project} から {email} への「{topic}」は配信されません。",
    },
    subscribed: {
      title: "「{topic}」を購読中です",
      text: "{project} から {email} に「{topic}」をお送りします。",
    },
    everything: "すべての配信を停止する",
    others: "{project} のほかのメールマガジンは引き続き届くことがあります。",
  },
};

/** The texts in the language of the other texts of the page or the mail (language.ts). */
export function topicTexts({ language }: { language: string }): TopicTexts {
  const texts = TEXTS[language];
  if (texts === undefined) throw new Error(`there are no texts of topics in ${language}`);
  return texts;
}
