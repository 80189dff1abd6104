/**
 * The names of columns that concern whether people want mail, in many languages. A name is read as a
 * row of known words: `date_left` is a time and a word of leaving, and `left_handed` is not, because
 * `handed` is no word that describes leaving. A name about orders, telephones and the like is about
 * something else, with any values.
 */

import {
  bareWord,
  foldWords,
  hasLeavingPart,
  LEAVING_IN_NAMES,
  NEGATIONS,
  wordsOf,
} from "./leaving-words.ts";

/** The way in which the cells of a column decide whether its meaning must be asked for. */
type NameHint =
  /** Says who left: every value but a no is a question. */
  | "left"
  /** Has a word of leaving beside unknown words: a date or a yes is a question. */
  | "perhaps-left"
  /** Says who wants mail: every value but a yes is a question, and so is an empty one. */
  | "wanted"
  /** Concerns mail: a no is a question. */
  | "mail"
  | null;

export type ColumnName = {
  hint: NameHint;
  /** Words of leaving that are a question in this column. */
  asks: "all-words" | "sure-words" | "nothing";
  /** In a file of orders it may say that the order was cancelled, and not that the person left. */
  mayBeOfOrder: boolean;
};

const FILLERS = wordsOf(`
  is was has have had be been the a of to for from in by on at date dates time datetime timestamp day
  when since year utc gmt flag bool boolean ind indicator yn reason reasons other comment details
  type value text info note user person member customer subscriber subscription account address addresses profile list lists audience status state
  global globally all any current currently can may darf kann puede peut last ts dt my our their receive receives received wants want
  get gets ok via we you me us still like campaign title source ip code message id
  am um wann datum zeit zeitpunkt grund ist wurde hat konto kunde mitglied adresse liste für von der die das
  le la les date du de des est motif raison compte client membre adresse liste depuis
  el los fecha hora es está motivo cuenta cliente socio lista por
  il data ora è stato motivo conto cliente socio em o da do conta op reden datum klant lid lijst erhalten recevoir recibir ricevere
  den det datum tid orsak skäl kund årsag dato kunde medlem dnia powód konto klient dne důvod účet
  zákazník tarihi nedeni hesap müşteri üye mi дата причина клиент аккаунт пользователь 日 日時 日付 理由 日期 原因 날짜
`);

const WANTING = wordsOf(`
  active enabled consent consented permission optin optedin doubleoptin confirmed confirmation confirm verified
  validated valid subscribed agreed accepts accept accepted reachable deliverable mailable emailable contactable
  permitted allowed allow opt opted newsletter newsletters gdpr dsgvo rgpd lgpd
  aktiv aktive bestätigt abonniert angemeldet einwilligung eingewilligt einverständnis zustimmung zugestimmt
  werbeeinwilligung erlaubnis
  actif active confirmé abonné abonnée inscrit inscrite consentement autorisation infolettre
  activo activa confirmado confirmada suscrito suscrita consentimiento permiso boletín
  attivo attiva confermato confermata iscritto iscritta consenso
  ativo ativa inscrito consentimento permissão
  actief bevestigd ingeschreven geabonneerd toestemming nieuwsbrief
  bekräftad prenumererar samtycke nyhetsbrev bekræftet tilmeldt samtykke nyhedsbrev bekreftet påmeldt
  vahvistettu tilannut suostumus uutiskirje
  aktywny aktywna potwierdzony potwierdzona zapisany zgoda aktivní potvrzeno potvrzen přihlášen souhlas súhlas
  aktív hozzájárulás hírlevél activ confirmat consimțământ
  aktif onaylı onaylandı izin rıza abone bülten ενεργός συγκατάθεση
  активен активный активна подтвержден подтверждён подтверждена подписан подписана согласие активний згода
  підписаний 有効 確認済 購読 購読中 同意 许可 同意书 已确认 订阅 활성 동의 구독
`);

const MAIL = wordsOf(`
  mail mails email emails emailing mailing mailings marketing promotions promotional
  communication communications advertising contact contacting membership send sends sendable
  sub subs subscr subbed news updates promo promos offers touch deals infos blast blasts alerts notify notifications
  signup join reachout
  werbung werbemails kontakt kommunikation mitgliedschaft abo abonnement courriel courriels publicité adhésion correo correos
  publicidad pubblicità publicidade reklame reklam рассылка рассылки реклама メール メルマガ 配信
`);

/** Parts of names that concern mail, beside any other words. */
const MAIL_PARTS = wordsOf(`
  mail newsletter marketing subscri abonn abonier suscri inscri iscri werbung kontaktier publicid publicit pubblicit reklam reclame assinan assinat
  feliratkoz abonat abonam eposta epost 订阅 訂閱 邮件 구독 메일 courriel correo boletin nyhetsbrev nyhedsbrev nieuwsbrief рассыл подпис
  メール メルマガ 配信 購読 abonelik contactable
`);
/** Parts of names of consents: to mail, unless the name says otherwise. */
const CONSENT_PARTS = wordsOf(`
  consent einwillig permission gdpr dsgvo rgpd optin zgoda souhlas samtyck toestemming
`);
/** Words for mail of a business. A no beside any other words is a question, as in `News about us`. */
const TOPICS = new Set(
  wordsOf(`
  news newsflash updates promo promos promotions offers specials announcements bulletin digest
  neuigkeiten angebote rundbrief rundbriefe rundschreiben infomails actualités actus nouveautés offres promotions
  novedades ofertas promociones noticias novità offerte promozioni notizie novidades promoções notícias
  nieuws aanbiedingen nieuwtjes nyheter erbjudanden nyheder tilbud uutiset tarjoukset nowości oferty
  promocje novinky nabídky akce hírek ajánlatok noutăți oferte haberler kampanyalar fırsatlar νέα προσφορές
  новости акции предложения новини акції пропозиції お知らせ ニュース 新闻 优惠 소식
`),
);
/**
 * Words that ask whether a person may be written to, if a word of `PERSONS` stands beside them:
 * `May we write to you?` and `Keep me posted`.
 */
const REACHING = new Set(
  wordsOf(`
  send contact write message reach inform notify alert posted informed touch approach contacted reached notified kontaktiert contacté
  schreiben anschreiben schicken senden zusenden zuschicken kontaktieren informieren ansprechen anmailen benachrichtigen melden
  contacter écrire envoyer informer joindre solliciter tenir contactar escribir
  enviar informar contattare scrivere inviare informare contatar escrever
  contacteren benaderen schrijven sturen toesturen kontakta skicka skriva informera kontakte sende skrive
  lähettää ottaa kontaktować wysyłać pisać informować kontaktovat posílat psát informovat
  связываться писать присылать отправлять информировать писати надсилати
`),
);
/** The same with the person in one word. */
const REACHING_PERSON =
  /\b(?:contactar|escribir|enviar|informar|avisar|mandar)(?:te|le|me|nos)\b|\b(?:contattar|scriver|inviar|informar|mandar)(?:ti|la|le|mi|vi)\b/;
const PERSONS = new Set(
  wordsOf(`
  we you me us i ich wir mich mir uns sie dich dir ihnen euch du nous vous moi je te tu nos os le yo
  mi ti ci vi io noi lei ons wij mij u jou je ik jag mig oss dig jeg dere deg os meille sinulle
  mnie nas cię panu pani vás vám mi mně мы вам вас мне меня нам я ми мені
`),
);
/** Questions about facts, such as `Did we contact you before?`, and requests to the person. */
const FACT =
  /^(?:how|where|when|what|why|which|who|did|have|has|had|was|were|wie|wo|woher|wann|was|warum|welche|haben|hast|comment|ou|quand|pourquoi|avez|como|donde|cuando|come|dove|quando|hai|hoe|waar|wanneer|heeft|hur|var|hvor|jak|gdzie|как|где|откуда)\b|\b(?:contact|send|write|inform|notify|tell|message|reach) us\b/;
const WISH =
  /\b(?:in|en) (?:touch|contact|contacto|kontakt)\b|\bhear (?:more|from|about our)\b|\b(?:keep|tell|sign) me\b|\b(?:be contacted|ser contactad[oa])\b/;
const RECEIVING = new Set(wordsOf("like want wish happy receive get"));
const MATERIAL = new Set(wordsOf("info infos information catalog catalogue brochure tips"));

/** A word of wanting mail that also counts inside of a longer name: `opt_in_flag2`. */
const WANTING_PARTS = ["optin", "optedin", "consent", "einwilligung", "consentement", "consenso"];

const OTHER_CHANNEL =
  /sms|phone|mobile|whatsapp|telegram|push|fax|postal|telefon|handy|postalisch|телефон|電話/;
const IS_MAIL = /e?mail|newsletter|correo|courriel/;

/** Names of links and keys, which each person has. */
const LINK = /(?:url|link|href|token|hash|uuid)$/;
/** Names of numbers and of activity about mail; they say nothing about whether a person wants it. */
const MEASURE =
  /(?:counts?|total|rate|ratio|score|points|percent|percentage|budget|spend|spent|costs?|revenue|amount|price|number|num|anzahl|clicks?|opens?|opened|clicked|received|(?<!con)sent|delivered|replied|replies)$|^(?:no|number|count|total|sum)of|^(?:num|total|count|anzahl)/;
const RATE = /(?:rate|ratio|percent|percentage|score)$/;
/** Names of times and spans of time of activity, such as `Last Active` and `Days since last email`. */
const ACTIVITY =
  /^(?:last|first|latest|recent|next|letzte|letzter|derniere?|ultim[ao]|senaste|sidste|ostatni[ae]?) ?(?:active|activity|seen|e?mail|newsletter|campaign|contact|aktiv|marketing|login|open)|^active (?:subscriptions|deals)$|\b(?:days?|hours?|weeks?|months?|minutes?|time|tage|jours|dias|giorni) (?:since|until|till|to|between|seit|depuis|desde|da)\b/;
/** Addresses beside the one of the contact, and the one of a house: `Mailing Address Line 2`, `Mailing Street`. */
const OTHER_ADDRESS =
  /^(?:(?:alternate|alternative|secondary|second|other|work|billing|paypal|parent|business|personal|home|private|backup|invoice|company|shipping|payer|reply) e ?mails?|e ?mail [2-9])(?: address(?:es)?)?$/;
const POSTAL =
  /\bmailing (?:address|street|city|town|state|province|zip|postal|postcode|country|county|region|line|latitude|longitude|geocode)/;
/** A place of which only the letters are checked, unless it is one of mail. */
const PLACES = new Set(
  wordsOf("id identity age address adresse direccion indirizzo endereco adres"),
);
const CHECKED = new Set(wordsOf("verified validated valid confirmed checked"));
/** Even one of these is much: `unsubscribe_count` is 1 for a person who left. */
const GRAVE = /unsub|optout|complain|spamreport|hardbounc/;
/** The end of a name that only describes a consent. */
const COMPANIONS = new Set(
  wordsOf(`id ip source by version text method campaign form page title language lang type reason country
    region city note notes comment comments frequency level topic topics name names channel
    client clients provider template templates domain signature app software server host platform tool
    program owner person attachment attachments subject label format code codes group role`),
);
const JOINED_COMPANION =
  /(?:consent|optin|optedin|confirm|confirmation)(?:id|ip|source|by|version|text|method|form|page|type)$/;
/** The time at which a person asked to be subscribed. Mailchimp has none for imported people. */
const OPT_IN_TIME =
  /(?:optin|optedin|subscribed|inscrit|abonniert|angemeldet)(?:time|date|at|on|am|le|ts)$/;

const OTHER_SUBJECTS = new Set(
  wordsOf(`
  order orders payment payments invoice invoices shipment shipments shipping delivery deliveries fulfillment
  fulfilment booking bookings appointment appointments reservation reservations ticket tickets task tasks project
  projects deal deals opportunity transaction transactions refund refunds claim claims quote quotes offer
  offers application applications job jobs course courses event events product products item items document
  documents contract contracts card cards file files vehicle policy loan loans return returns meeting meetings
  call calls sms phone mobile fax device devices license licence domain website trial trials warranty visa renewal exam test quiz survey onboarding kyc sync
  rsvp attendance attending attendee attend invitation guest financial lineitem cart checkout customs
  import export training enrollment enrolment class lesson coupon voucher discount domain website post posts comment comments
  bestellung bestellungen auftrag zahlung zahlungen rechnung rechnungen lieferung versand termin buchung vertrag
  commande commandes paiement facture livraison rendezvous réservation contrat
  pedido pedidos pago pagos factura envío cita reserva contrato ordine ordini pagamento fattura spedizione
  prenotazione contratto encomenda fatura entrega bestelling betaling factuur levering afspraak
  beställning betalning faktura leverans bokning ordre bestilling betaling tilaus maksu
  zamówienie zamówienia płatność faktura dostawa objednávka platba rendelés fizetés sipariş ödeme
  заказ заказа заказы оплата оплаты счет доставка 注文 支払 配送 订单 支付 주문 결제
`),
);
/** Subjects of consent other than mail: a consent to photos says nothing about mail. */
const OTHER_CONSENTS = new Set(
  wordsOf(`
  photo photos photograph photography photographs picture pictures image images video videos film filming media
  recording parental parent guardian medical treatment surgery research study cookie cookies waiver liability background health
  hipaa tracking travel pickup foto fotos bild bilder bildrechte droit imagen imágenes immagini vidéo
  terms conditions tos agb cgv cgu rules
`),
);
const PICTURE = /^(?:foto|bild|photo|video|cookie)/;
/** Columns of proper names, in which any word may stand. */
const PROPER_NAMES = new Set(
  wordsOf(`
  name names firstname lastname surname fullname nickname username city town village street
  road company organisation organization employer employeer country brand title jobtitle school team
  vorname nachname stadt ort strasse firma prénom nom ville rue société nombre apellido ciudad calle
  empresa cognome città via azienda sobrenome cidade rua voornaam achternaam plaats bedrijf imię nazwisko
  miasto jméno příjmení město ad soyad şehir имя фамилия город 名前 氏名 会社
  side hand handed handedness position align alignment seat foot wing eye ear direction
  party politics partei
`),
);

const ENDS_ORDER = new Set(
  wordsOf(
    "cancelled canceled cancellation deleted archived rejected declined storniert annulé cancelado",
  ),
);
const ORDER_COLUMN =
  /^(?:order|bestell(?:ung|nummer)|commande|pedido|ordine)\b|^(?:financial|fulfillment) status$|^fulfilled at$|^line ?item|^(?:shipping|discount|refunded|tax|order) (?:amount|method|total|price)$|^sub ?total$/;

/** In `status_name` the name is no proper one. */
const STATUS_WORDS = new Set(
  wordsOf(
    "status state statut estado stato situação stand zustand stav durum segment group list tag",
  ),
);

type WordClass = { word: string; bit: number };
const [FILLER, LEAVES, WANTS, MAILS, NEGATES] = [0, 1, 2, 4, 8];
const CLASSES: readonly WordClass[] = [
  ...classOf(FILLERS, FILLER),
  ...classOf(LEAVING_IN_NAMES, LEAVES),
  ...classOf(
    wordsOf(
      "stop mute exitdate dateofexit dateofleaving leavingdate leavedate leaving departuredate kündigungs",
    ),
    LEAVES,
  ),
  ...classOf(WANTING, WANTS),
  ...classOf(MAIL, MAILS),
  ...classOf(NEGATIONS, NEGATES),
];

function classOf(words: readonly string[], bit: number): WordClass[] {
  return words.map((word) => ({ word, bit }));
}

const BITS_OF_WORD = new Map<string, number[]>();
for (const { word, bit } of CLASSES) {
  BITS_OF_WORD.set(word, [...(BITS_OF_WORD.get(word) ?? []), bit]);
}
const LONGEST_WORD = Math.max(...CLASSES.map(({ word }) => word.length));
/** Words that are too common beside others: `gone_fishing`, `left_handed`. */
const NEEDS_MORE = new Set(
  wordsOf(
    "left gone quit former departed exited refused stop stopped ended ceased discontinued dropped halted",
  ),
);
const LEAVING_SET = new Set(LEAVING_IN_NAMES.filter((word) => !NEEDS_MORE.has(word)));

/** Returns the meaning of a column by its name alone; nothing else of the file is known. */
export function readColumnName(name: string): ColumnName {
  const bare = bareWord(name);
  const words = wordsOfName(name);
  const isOtherChannel = OTHER_CHANNEL.test(bare) && !IS_MAIL.test(bare);
  if (isOtherChannel) return { hint: null, asks: "nothing", mayBeOfOrder: false };
  const isProper =
    words.some((word) => PROPER_NAMES.has(word)) && !words.some((word) => STATUS_WORDS.has(word));
  const isOther = isProper || words.some((word) => OTHER_SUBJECTS.has(word));
  return {
    hint: hintOf(bare, words),
    asks: isOther ? "sure-words" : "all-words",
    mayBeOfOrder: words.some((word) => ENDS_ORDER.has(word)) && !hasLeavingPart(bare),
  };
}

/** True if two columns or more are those of an order. */
export const isFileOfOrders = (names: readonly string[]): boolean =>
  names.filter((name) => ORDER_COLUMN.test(wordsOfName(name).join(" ").trim())).length > 1;

function hintOf(bare: string, words: readonly string[]): NameHint {
  if (LINK.test(bare)) return null;
  const text = words.join(" ").trim();
  if (MEASURE.test(bare) && (RATE.test(bare) || !GRAVE.test(bare))) return null;
  if (hasLeavingPart(bare)) return "left";
  const found = classesIn(bare);
  if (found.has(LEAVES)) return "left";
  if (found.has(NEGATES | WANTS) || found.has(NEGATES | MAILS)) return "left";
  if (ACTIVITY.test(text) || POSTAL.test(text) || OTHER_ADDRESS.test(text)) return null;
  const isAboutMail = MAIL_PARTS.some((part) => bare.includes(part)) || isRequest(text, words);
  const isOtherConsent = words.some((word) => OTHER_CONSENTS.has(word)) || PICTURE.test(bare);
  if (!isAboutMail && (isOtherConsent || hasBoth(words, PLACES, CHECKED))) return null;
  const isWanted = found.has(WANTS) || WANTING_PARTS.some((part) => bare.includes(part));
  const isCompanion = COMPANIONS.has(words.at(-1) ?? "") || JOINED_COMPANION.test(bare);
  if (isWanted && !isCompanion) return OPT_IN_TIME.test(bare) ? null : "wanted";
  const isConsent = CONSENT_PARTS.some((part) => bare.includes(part));
  if (found.has(MAILS) || isAboutMail || isConsent) {
    return isCompanion && words.at(-1) !== "frequency" ? null : "mail";
  }
  if (words.some((word) => OTHER_SUBJECTS.has(word))) return null;
  return words.some((word) => LEAVING_SET.has(word)) ||
    /\bleft (?:on|at|date)\b/.test(words.join(" "))
    ? "perhaps-left"
    : null;
}

/** True for a name that asks whether a person wants to be written to. */
function isRequest(text: string, words: readonly string[]): boolean {
  if (FACT.test(text)) return false;
  if (words.some((word) => TOPICS.has(word))) return true;
  if (WISH.test(text) || REACHING_PERSON.test(text)) return true;
  return hasBoth(words, RECEIVING, MATERIAL) || hasBoth(words, REACHING, PERSONS);
}

const hasBoth = (words: readonly string[], some: Set<string>, others: Set<string>): boolean =>
  words.some((word) => some.has(word)) && words.some((word) => others.has(word));

/** The words of a name such as `deletedAt` or `deleted_at`, folded. */
function wordsOfName(name: string): string[] {
  const apart = name.slice(0, 60).replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return foldWords(apart).split(/[^\p{L}\p{N}]+/u);
}

/**
 * The classes of the words that the whole name consists of, for each way to read it: a name is read
 * with and without the limits between its words. Mail beside a word of wanting is of no account.
 */
function classesIn(bare: string): Set<number> {
  const text = bare.replace(/(?<!\d)\d+$/, "");
  const reached = Array.from({ length: text.length + 1 }, () => new Set<number>());
  reached[0]?.add(FILLER);
  for (let at = 0; at < text.length; at++) {
    const before = reached[at];
    if (before === undefined || before.size === 0) continue;
    for (let end = at + 1; end <= Math.min(text.length, at + LONGEST_WORD); end++) {
      for (const bit of BITS_OF_WORD.get(text.slice(at, end)) ?? []) {
        // A negation is followed by a word: `contact_no` is a number.
        if (bit === NEGATES && end === text.length) continue;
        for (const mask of before) reached[end]?.add(mask | bit);
      }
    }
  }
  return new Set([...(reached[text.length] ?? [])].map(simplified));
}

function simplified(mask: number): number {
  const isNegated = (mask & NEGATES) !== 0;
  if ((mask & LEAVES) !== 0) return isNegated ? WANTS : LEAVES;
  const kind = (mask & WANTS) === 0 ? mask & MAILS : WANTS;
  return isNegated ? NEGATES | kind : kind;
}
