/** Texts in Spanish. */

import type { Texts } from "../language.ts";

export const es: Texts = {
  language: "es",
  unsubscribe: "Darse de baja",
  subscribe: "Suscribirse",
  newAddress: "su nueva dirección",
  askUnsubscribe: {
    title: "¿Darse de baja?",
    text: "{project} ya no enviará boletines a {email}.",
  },
  askSubscribe: { title: "¿Suscribirse?", text: "{project} enviará sus boletines a {email}." },
  unsubscribed: { title: "Baja confirmada", text: "{project} no envía boletines a {email}." },
  subscribed: { title: "Suscripción confirmada", text: "{project} envía sus boletines a {email}." },
  manage: "Su suscripción",
  note: "Es posible que siga recibiendo mensajes sobre sus pedidos o su cuenta.",
  contactDeleted: {
    title: "Este enlace ya no es válido",
    text: "Este correo se envió a una dirección que se ha eliminado desde entonces. Si sigue recibiendo boletines, use el enlace del más reciente.",
  },
  invalidLink: {
    title: "Este enlace no funciona",
    text: "Puede que esté incompleto. Ábralo de nuevo desde el correo o cópielo entero.",
  },
  serverError: {
    title: "No se ha podido completar",
    text: "Se ha producido un error por nuestra parte. Inténtelo de nuevo dentro de unos minutos.",
  },
  footer: "Recibe este correo porque se suscribió a los boletines de {project}.",
};
