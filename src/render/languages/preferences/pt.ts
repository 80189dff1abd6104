/** Texts of the preference page in Portuguese, as it is written in Brazil. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesPt: PreferenceTexts = {
  title: "Suas preferências",
  choose: "Escolher o que receber ou fazer uma pausa",
  saved: "Suas alterações foram salvas.",
  nothingChanged: "Não havia nada a alterar.",
  topics: "O que você quer receber?",
  noTopics:
    "Você não escolheu nenhum tema. Newsletters que não pertencem a nenhum tema ainda podem chegar até você. Para não receber mais nenhuma, cancele todas as inscrições.",
  pause: "Fazer uma pausa",
  pauseHint: "Você continua com a inscrição e não recebe newsletters até o fim da pausa.",
  noPause: "Sem pausa",
  pauseMonth: "Por um mês",
  pauseQuarter: "Por três meses",
  pauseUntil: "Até um dia à sua escolha",
  pauseDay: "Dia em que as newsletters voltam",
  pauseDayFault: "Escolha um dia entre amanhã e daqui a um ano.",
  paused: "Você não recebe newsletters até {date}.",
  language: "Idioma",
  languageHint: "O idioma desta página. {project} também pode usá-lo nos seus e-mails.",
  tracking: "Medição",
  trackingLabel: "{project} pode medir se abro seus e-mails e quais links sigo",
  trackingHint: "Se a caixa não estiver marcada, nada disso é registrado.",
  save: "Salvar",
  unsubscribeAll: "Cancelar todas as inscrições",
  address: "Seu endereço",
  addressHint:
    "Primeiro enviamos um e-mail para o seu endereço atual e depois outro para o novo. O endereço é alterado assim que você confirmar os dois.",
  newAddress: "Novo endereço de e-mail",
  newAddressFault: "Digite um endereço de e-mail completo, como nome@example.com.",
  changeAddress: "Alterar endereço",
  data: "Seus dados",
  dataHint: "Para a sua proteção, primeiro enviamos um link para {email}.",
  sendData: "Solicitar uma cópia dos meus dados",
  deleteData: "Excluir meus dados",
  mailSent:
    "Enviamos um e-mail para {email}. O link funciona por 24 horas. Se ele não chegar, verifique a pasta de spam e tente novamente em uma hora.",
  unavailable: "Isso não é possível nesta página no momento. Responda a um e-mail de {project}.",
  askExport: {
    title: "Baixar seus dados?",
    text: "O arquivo contém os dados que {project} guardou sobre você.",
  },
  download: "Baixar",
  view: "Ver no navegador",
  askErasure: {
    title: "Excluir seus dados?",
    text: "{project} excluirá os dados que guardou sobre você: seu endereço, suas escolhas e os e-mails enviados a você. Isso não pode ser desfeito.",
  },
  erase: "Excluir meus dados",
  erased: {
    title: "Seus dados foram excluídos",
    text: "{project} excluiu os dados que tinha guardado sobre você. O comprovante de {date} tem o número {receipt}.",
  },
  askAddress: {
    title: "Alterar seu endereço?",
    text: "{project} passará a escrever para {email}. Antes enviamos um e-mail para lá, para que o novo endereço seja confirmado.",
  },
  acceptAddress: "Sim, alterar",
  addressAccepted: {
    title: "Agora confirme o novo endereço",
    text: "Enviamos um e-mail para {email}. O endereço é alterado assim que você o confirmar lá. O link funciona por 24 horas.",
  },
  askNewAddress: {
    title: "Usar este endereço?",
    text: "{project} escreverá para {email} a partir de agora.",
  },
  confirmAddress: "Confirmar endereço",
  addressChanged: {
    title: "Seu endereço foi alterado",
    text: "{project} agora escreve para {email}.",
  },
  linkOver: {
    title: "Este link expirou",
    text: "Ele já foi usado ou tem mais de 24 horas. Para recomeçar, abra suas preferências pelo link de um e-mail.",
  },
  exportMail: {
    subject: "Seus dados em {project}",
    text: "Você solicitou uma cópia dos dados que {project} guardou sobre você. É possível baixá-la em até 24 horas.",
    button: "Baixar meus dados",
  },
  erasureMail: {
    subject: "Excluir seus dados em {project}?",
    text: "Você pediu que {project} exclua os dados que guardou sobre você. Confirme em até 24 horas. Isso não pode ser desfeito.",
    button: "Continuar",
  },
  addressMail: {
    subject: "Alterar seu endereço em {project}?",
    text: "Você pediu que {project} escreva para {email} em vez deste endereço. Confirme em até 24 horas.",
    button: "Continuar",
  },
  newAddressMail: {
    subject: "Confirme seu endereço em {project}",
    text: "Você pediu que {project} escreva para este endereço a partir de agora. Confirme em até 24 horas.",
    button: "Continuar",
  },
  addressNotice: {
    subject: "Seu endereço em {project} foi alterado",
    text: "{project} agora escreve para {email} em vez deste endereço. Se você não queria isso, responda a este e-mail.",
  },
  mailNote: "Se você não pediu isso, ignore este e-mail. Nada será alterado.",
};
