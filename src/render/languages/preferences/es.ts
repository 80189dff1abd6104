/** Texts of the preference page in Spanish. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesEs: PreferenceTexts = {
  title: "Sus preferencias",
  choose: "Elegir qué recibir o hacer una pausa",
  saved: "Sus cambios se han guardado.",
  nothingChanged: "No había nada que cambiar.",
  topics: "¿Qué desea recibir?",
  noTopics:
    "No ha elegido ningún tema. Los boletines que no pertenecen a ningún tema todavía pueden llegarle. Si no desea recibir ninguno, dese de baja de todo.",
  pause: "Hacer una pausa",
  pauseHint: "Su suscripción se mantiene, y no recibe boletines hasta que termine la pausa.",
  noPause: "Sin pausa",
  pauseMonth: "Durante un mes",
  pauseQuarter: "Durante tres meses",
  pauseUntil: "Hasta el día que elija",
  pauseDay: "Día en que vuelven los boletines",
  pauseDayFault: "Elija un día entre mañana y dentro de un año.",
  paused: "No recibe boletines hasta el {date}.",
  language: "Idioma",
  languageHint: "El idioma de esta página. {project} también puede usarlo para sus correos.",
  tracking: "Medición",
  trackingLabel: "{project} puede medir si abro sus correos y qué enlaces sigo",
  trackingHint: "Si la casilla no está marcada, no se registra nada de esto.",
  save: "Guardar",
  unsubscribeAll: "Darse de baja de todo",
  address: "Su dirección",
  addressHint:
    "Primero enviamos un correo a su dirección actual y después otro a la nueva. La dirección cambia en cuanto haya confirmado las dos.",
  newAddress: "Nueva dirección de correo",
  newAddressFault: "Escriba una dirección de correo completa, por ejemplo nombre@example.com.",
  changeAddress: "Cambiar la dirección",
  data: "Sus datos",
  dataHint: "Para su protección, primero enviamos un enlace a {email}.",
  sendData: "Solicitar una copia de mis datos",
  deleteData: "Eliminar mis datos",
  mailSent:
    "Hemos enviado un correo a {email}. Su enlace funciona durante 24 horas. Si no llega, mire en la carpeta de correo no deseado e inténtelo de nuevo dentro de una hora.",
  unavailable:
    "Por el momento no es posible en esta página. Responda, por favor, a un correo de {project}.",
  askExport: {
    title: "¿Descargar sus datos?",
    text: "El archivo contiene los datos que {project} ha guardado sobre usted.",
  },
  download: "Descargar",
  view: "Ver en el navegador",
  askErasure: {
    title: "¿Eliminar sus datos?",
    text: "{project} eliminará los datos que ha guardado sobre usted: su dirección, sus preferencias y los correos que se le enviaron. Esto no se puede deshacer.",
  },
  erase: "Eliminar mis datos",
  erased: {
    title: "Sus datos se han eliminado",
    text: "{project} ha eliminado los datos que había guardado sobre usted. El comprobante del {date} tiene el número {receipt}.",
  },
  askAddress: {
    title: "¿Cambiar su dirección?",
    text: "{project} escribirá entonces a {email}. Antes enviamos un correo allí para que se confirme la nueva dirección.",
  },
  acceptAddress: "Sí, cambiarla",
  addressAccepted: {
    title: "Confirme ahora la nueva dirección",
    text: "Hemos enviado un correo a {email}. La dirección cambia en cuanto la haya confirmado allí. El enlace funciona durante 24 horas.",
  },
  askNewAddress: {
    title: "¿Usar esta dirección?",
    text: "{project} escribirá a {email} a partir de ahora.",
  },
  confirmAddress: "Confirmar la dirección",
  addressChanged: {
    title: "Su dirección ha cambiado",
    text: "{project} escribe ahora a {email}.",
  },
  linkOver: {
    title: "Este enlace ha caducado",
    text: "Ya se ha usado o tiene más de 24 horas. Para empezar de nuevo, abra sus preferencias con el enlace de un correo.",
  },
  exportMail: {
    subject: "Sus datos en {project}",
    text: "Ha solicitado una copia de los datos que {project} ha guardado sobre usted. Puede descargarla durante 24 horas.",
    button: "Descargar mis datos",
  },
  erasureMail: {
    subject: "¿Eliminar sus datos en {project}?",
    text: "Ha pedido a {project} que elimine los datos que ha guardado sobre usted. Confírmelo en un plazo de 24 horas. No se puede deshacer.",
    button: "Continuar",
  },
  addressMail: {
    subject: "¿Cambiar su dirección en {project}?",
    text: "Ha pedido a {project} que escriba a {email} en lugar de a esta dirección. Confírmelo en un plazo de 24 horas.",
    button: "Continuar",
  },
  newAddressMail: {
    subject: "Confirme su dirección en {project}",
    text: "Ha pedido a {project} que escriba a esta dirección a partir de ahora. Confírmelo en un plazo de 24 horas.",
    button: "Continuar",
  },
  addressNotice: {
    subject: "Su dirección en {project} ha cambiado",
    text: "{project} escribe ahora a {email} en lugar de a esta dirección. Si no lo deseaba, responda a este correo.",
  },
  mailNote: "Si no lo ha solicitado, puede ignorar este correo. No cambiará nada.",
};
