/** Texts in Portuguese (Brazil). */

import type { Texts } from "../language.ts";

export const pt: Texts = {
  language: "pt",
  unsubscribe: "Cancelar inscrição",
  subscribe: "Inscrever-se",
  newAddress: "seu novo endereço",
  askUnsubscribe: {
    title: "Cancelar inscrição?",
    text: "{project} não enviará mais newsletters para {email}.",
  },
  askSubscribe: { title: "Inscrever-se?", text: "{project} enviará newsletters para {email}." },
  unsubscribed: {
    title: "Inscrição cancelada",
    text: "{project} não envia newsletters para {email}.",
  },
  subscribed: { title: "Inscrição confirmada", text: "{project} envia newsletters para {email}." },
  manage: "Sua inscrição",
  note: "Você ainda pode receber mensagens sobre seus pedidos ou sua conta.",
  contactDeleted: {
    title: "Este link não é mais válido",
    text: "Este e-mail foi enviado para um endereço que foi excluído desde então. Se você ainda recebe newsletters, use o link da mais recente.",
  },
  invalidLink: {
    title: "Este link não funciona",
    text: "Talvez esteja incompleto. Abra-o novamente pelo e-mail ou copie o link inteiro.",
  },
  serverError: {
    title: "Não deu certo",
    text: "Ocorreu um erro do nosso lado. Tente novamente em alguns minutos.",
  },
  footer: "Você recebe este e-mail porque se inscreveu nas newsletters de {project}.",
};
