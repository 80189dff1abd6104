/**
 * The names of columns that concern whether people want mail, in many languages. A name is read as a
 * row of known words: `date_left` is a time and a word of leaving, and `left_handed` is not, because
 * `handed` is no word that describes leaving. A name about orders, telephones and the like is about
 * something else, whatever its values say.
 */

import {
  bareWord,
  foldWords,
  hasLeavingPart,
  LEAVING_IN_NAMES,
  NEGATIONS,
  wordsOf,
} from "./leaving-words.ts";

/** How the cells of a column decide whether its meaning must be asked for. */
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
};

const FILLERS = wordsOf(`
  is was has have had be been the a of to for from in by on at date dates time datetime timestamp day
  when since year utc gmt flag bool boolean ind indicator yn reason reasons other comment details
  type value text info note user person member customer subscriber subscription account address addresses profile list lists audience status state
  global globally all any current currently can may darf kann puede peut last ts dt my our their receive receives received wants want
  get gets send sends ok via campaign title source ip code message id
  am um wann datum zeit zeitpunkt grund ist wurde hat konto kunde mitglied adresse liste für von der die das
  le la les date du de des est motif raison compte client membre adresse liste depuis
  el los fecha hora es está motivo cuenta cliente socio lista por
  il data ora è stato motivo conto cliente socio em o da do conta op reden datum klant lid lijst
  den det datum tid orsak skäl kund årsag dato kunde medlem dnia powód konto klient dne důvod účet
  zákazník tarihi nedeni hesap müşteri üye mi дата причина клиент аккаунт пользователь 日 日時 日付 理由 日期 原因 날짜
`);

const WANTING = wordsOf(`
  active enabled consent consented permission optin optedin doubleoptin confirmed confirmation confirm verified
  validated valid subscribed agreed accepts accept accepted reachable deliverable mailable emailable contactable
  permitted allowed allow newsletter newsletters gdpr dsgvo rgpd lgpd
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
  communication communications advertising contact contacting membership
  werbung werbemails kontakt kommunikation mitgliedschaft abo abonnement courriel courriels publicité adhésion correo correos
  publicidad pubblicità publicidade reklame reklam рассылка рассылки реклама メール メルマガ 配信
`);

/** Parts of names that concern mail, whatever stands beside them. */
const MAIL_PARTS = wordsOf(`
  mail newsletter marketing subscri abonn abonier suscri inscri iscri consent einwillig permission
  gdpr dsgvo rgpd optin werbung kontaktier publicid publicit pubblicit reklam reclame assinan assinat
  feliratkoz abonat abonam eposta epost 订阅 訂閱 邮件 구독 메일 courriel correo boletin nyhetsbrev nyhedsbrev nieuwsbrief рассыл подпис
  メール メルマガ 配信 購読 zgoda souhlas samtyck toestemming abonelik contactable
`);
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
/** Even one of these is much: `unsubscribe_count` is 1 for a person who left. */
const GRAVE = /unsub|optout|complain|spamreport|hardbounc/;
/** The end of a name that only describes a consent. */
const COMPANIONS = new Set(
  wordsOf(`id ip source by version text method campaign form page title language lang type reason country
    region city note notes comment comments frequency level topic topics name names`),
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
      "exitdate dateofexit dateofleaving leavingdate leavedate leaving departuredate kündigungs",
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
const NEEDS_MORE = new Set(wordsOf("left gone quit former departed exited stop refused"));
const LEAVING_SET = new Set(LEAVING_IN_NAMES.filter((word) => !NEEDS_MORE.has(word)));

/** What a name says about its column; nothing of the file is known. */
export function readColumnName(name: string): ColumnName {
  const bare = bareWord(name);
  const words = wordsOfName(name);
  const isOtherChannel = OTHER_CHANNEL.test(bare) && !IS_MAIL.test(bare);
  if (isOtherChannel) return { hint: null, asks: "nothing" };
  const isProper =
    words.some((word) => PROPER_NAMES.has(word)) && !words.some((word) => STATUS_WORDS.has(word));
  const isOther = isProper || words.some((word) => OTHER_SUBJECTS.has(word));
  return { hint: hintOf(bare, words), asks: isOther ? "sure-words" : "all-words" };
}

function hintOf(bare: string, words: readonly string[]): NameHint {
  if (LINK.test(bare)) return null;
  if (MEASURE.test(bare) && (RATE.test(bare) || !GRAVE.test(bare))) return null;
  if (hasLeavingPart(bare)) return "left";
  const found = classesIn(bare);
  if (found.has(LEAVES)) return "left";
  if (found.has(NEGATES | WANTS) || found.has(NEGATES | MAILS)) return "left";
  const isWanted = found.has(WANTS) || WANTING_PARTS.some((part) => bare.includes(part));
  const isCompanion = COMPANIONS.has(words.at(-1) ?? "") || JOINED_COMPANION.test(bare);
  if (isWanted && !isCompanion) return OPT_IN_TIME.test(bare) ? null : "wanted";
  if (found.has(MAILS) || MAIL_PARTS.some((part) => bare.includes(part))) {
    return isCompanion && words.at(-1) !== "frequency" ? null : "mail";
  }
  if (words.some((word) => OTHER_SUBJECTS.has(word))) return null;
  return words.some((word) => LEAVING_SET.has(word)) ||
    /\bleft (?:on|at|date)\b/.test(words.join(" "))
    ? "perhaps-left"
    : null;
}

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
