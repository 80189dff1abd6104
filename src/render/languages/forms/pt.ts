/** Texts of sign-up forms in Portuguese. */

import type { FormTexts } from "../../form-texts.ts";

export const ptForm: FormTexts = {
  email: "Endereço de e-mail",
  optional: "opcional",
  choose: "Escolha uma opção",
  topics: "O que você quer receber?",
  trap: "Deixe este campo vazio",
  summary: "Verifique os campos marcados.",
  errors: {
    required: "Preencha este campo.",
    email: "Digite um endereço de e-mail como ada@example.com.",
    tooLong: "Digite no máximo {max} caracteres.",
    number: "Digite um número.",
    date: "Digite uma data.",
    choice: "Escolha uma das opções.",
    checkbox: "Marque esta caixa.",
    consent: "Dê o seu consentimento.",
  },
  checkInbox: {
    title: "Verifique sua caixa de entrada",
    text: "Enviamos um e-mail com um link para você. Sua inscrição começa quando você abrir o link e confirmar.",
  },
  thanks: {
    title: "Obrigado por se inscrever",
    text: "Se precisarmos da sua confirmação, você encontrará um e-mail com um link na sua caixa de entrada.",
  },
  closed: {
    title: "Este formulário está fechado",
    text: "No momento não é possível se inscrever aqui.",
  },
  tooMany: { title: "Solicitações demais", text: "Tente novamente em uma hora." },
  foreign: {
    title: "Este formulário não pode ser usado aqui",
    text: "O site de onde você veio não pode usar este formulário.",
  },
  askConfirm: {
    title: "Confirme sua inscrição",
    text: "{project} enviará então newsletters para {email}.",
  },
  confirm: "Confirmar",
  confirmed: {
    title: "Sua inscrição está confirmada",
    text: "Obrigado. {project} enviará newsletters para {email}.",
  },
  alreadyConfirmed: {
    title: "Você já confirmou",
    text: "Sua inscrição já estava confirmada. Não é preciso fazer mais nada.",
  },
  expired: {
    title: "Este link não é mais válido",
    text: "Os links de confirmação valem por sete dias. Preencha o formulário novamente para receber um novo.",
  },
  mail: {
    subject: "Confirme sua inscrição em {project}",
    text: "Alguém, esperamos que você, pediu a {project} que envie newsletters para este endereço. Confirme, por favor:",
    button: "Confirmar a inscrição",
    ignore:
      "Se não foi você, ignore este e-mail: nada será enviado. O link é válido por sete dias.",
  },
};
