/**
 * Words of many languages that say that a person left, did not confirm or cannot be reached, and words
 * for yes and no. They only decide whether the meaning of a column must be asked for (watch.ts); the
 * table of standing.ts has the meaning of each status. All words are compared as `bareWord`.
 */

const LONGEST_WORD = 60;
const MOST_WORDS = 6;

const ASCII = /^[ -~]*$/;

/** Letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ł: "l",
  ø: "o",
  æ: "ae",
  œ: "oe",
  ß: "ss",
  ı: "i",
  đ: "d",
  ð: "d",
  þ: "th",
};

/** The text in lower case, without accents, in the normal form of its letters. */
export function foldWords(text: string): string {
  const lower = text.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[łøæœßıđðþ]/g, (letter) => LETTERS[letter] ?? letter);
}

/** The letters and digits of a name or word, folded: `UNSUB_TIME` is `unsubtime`, `Né` is `ne`. */
export function bareWord(text: string): string {
  const folded = foldWords(text.slice(0, LONGEST_WORD));
  return folded.replace(ASCII.test(folded) ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu, "");
}

/** The words of a table, folded. */
export const wordsOf = (text: string): string[] => text.trim().split(/\s+/).map(bareWord);

/** Parts of words that mean leaving wherever they stand, in a name or in a value. */
const LEAVING_PARTS = wordsOf(`
  unsub optout optedout optingout donotmail donotemail donotcontact donotsend dontmail dontemail
  dontcontact dontsend blacklisted blocklisted denylisted suppressed hardbounc softbounc bounced
  complained spamreport spamcomplaint reportedspam markedasspam markedspam undeliverable unreachable
  unconfirmed unverified deactivated deregistered nonsubscri neversubscri notinterested donotdisturb mailstop
  stopmail stopemail emailstop skipmail skipemail kontaktsperr sperrkennz npai udmeld utmeld
  abgemeldet abmeld abbestell ausgetragen austragung widerrufen widersprochen werbesperre
  werbewiderspruch mailsperre unzustellbar unbestätigt deaktiviert unerreichbar
  désabonn désinscri nepascontacter nepasenvoyer injoignable désactivé
  dadodebaja dadadebaja dardebaja dadosdebaja desuscri dessuscri cancelósuscripción nocontactar noenviar
  disiscri disdett noncontattare disattivat descadastr desinscre desativad naocontatar nãoenviar
  uitgeschreven uitschrijv afgemeld afmeld nietmailen gedeactiveerd avregistrer avprenumer avanmäl
  frameldt avmeld afregistrer avabonner inaktiverad peruuttanut eitilaa
  wypisan wypisał rezygnacj zrezygnow odsubskryb wyrejestrow niepotwierdzon odhlášen odhlásil odhlásen
  nepotvrzen nepotvrden leiratkoz dezabon neconfirmat aboneliktençık abonelikiptal listedençık
  onaylanmamış doğrulanmamış απεγγρα διαγράφηκε
  отписа отписк неподтвержд відписа непідтвердж 退会 配信停止 購読解除 購読停止 配信解除 登録解除 解約
  配信不可 配信拒否 受信拒否 不達 未確認 退订 退訂 取消订阅 取消訂閱 未确认 拉黑 黑名单 구독취소 구독해지 수신거부 탈퇴
`);

/** Parts of names that concern leaving, where a value could be about something else. */
const LEAVING_NAME_PARTS = wordsOf(`
  bounce complain suppress blacklist blocklist denylist undeliver werbeverbot widerspruch
  austritt fechadebaja fechabaja datadebaja motivobaja databaixa rebotado rebote
`);

/** Words that mean leaving if they are all of a value, or all of a name but for words such as "date". */
const LEAVING_WORDS = wordsOf(`
  gone former exmember exmembre exmitglied undelivered trashed trash onhold paused dnc dnm nomail noemail
  erased gdprerased anonymized anonymised opposition objected inactive disabled blocked banned pending cancelled canceled cancellation
  archived deleted deletion removed removal invalid invalidemail bademail badaddress spam spammer abuse
  muted snoozed silenced dropped halted stopped ended ceased discontinued lapsed churned churn terminated withdrawn revoked rejected refused declined denied deceased departed
  quit resigned exited dormant annulation cancellazione cancelación cancelamento annullamento quarantined unactivated awaitingconfirmation unengaged deactive
  suspended complaint complaints bounce bounces blacklist blocklist cleaned optout exclude excluded
  gelöscht geloescht entfernt inaktiv gesperrt blockiert ausgeschieden ausgetreten storniert gekündigt gekuendigt kündigung
  beendet ungültig ungueltig verstorben ausstehend wartend ehemalig ehemaliger ehemalige abgelehnt
  unbekanntverzogen löschung ausgeschlossen
  inactif supprimé supprimée effacé bloqué bloquée annulé annulée résilié résiliée résiliation enattente
  invalide décédé refusé refusée rejeté radié indésirable suspendu suspendue
  baja bajas inactivo inactiva eliminado eliminada borrado borrada bloqueado bloqueada cancelado
  cancelada anulado anulada pendiente inválido inválida rechazado caducado suspendido suspendida
  inattivo inattiva eliminato eliminata cancellato cancellata rimosso rimossa bloccato bloccata
  annullato annullata sospeso sospesa inattesa rifiutato
  inativo inativa excluído excluída removido removida apagado pendente recusado baixa suspenso
  inactief verwijderd geblokkeerd geannuleerd opgezegd vertrokken ongeldig wachtend inafwachting geweigerd
  borttagen raderad blockerad avslutad spärrad väntar väntande ogiltig avbruten uppsagd
  slettet fjernet blokeret blokkert annulleret afventer ugyldig opsagt udmeldt utmeldt avsluttet
  poistettu estetty peruutettu odottaa virheellinen eronnut
  nieaktywny nieaktywna usunięty usunięta zablokowany zablokowana anulowany anulowana oczekujący
  oczekuje nieprawidłowy
  neaktivní smazán smazáno smazaný odstraněn blokován zablokován zrušen zrušeno zrušena zrušený
  čekající neplatný neplatná vymazaný neaktívny
  törölt törölve letiltott lemondott függőben érvénytelen inactiv șters anulat blocat înașteptare
  pasif silindi silinmiş iptal iptaledildi engellendi beklemede geçersiz ayrıldı
  ανενεργός διαγραμμένος
  неактивен неактивный неактивна неактивно удален удалена удалён удаленный заблокирован заблокирована
  отменен отменена отменён ожидает ожидание вожидании недействителен ушел ушёл ушла спам
  неактивний видалений видалено заблокований скасовано очікує
  無効 停止 停止中 休止 解除 削除 削除済 削除済み ブロック 保留 未承認 キャンセル
  无效 無效 已删除 已刪除 停用 已停用 已取消 未激活 待确认 封禁 비활성 삭제 삭제됨 취소 대기
`);

/** Words with another common meaning: they count as values, but not in names. */
const LEAVING_VALUES = wordsOf(
  `stop stopped dead closed waiting отключен отключена отключено expired parti partie quitté abgelaufen expiré verzogen verlopen wygasły`,
);

/** Also a side; columns that name the other side are no question. */
const LEFT = "left";
const SIDES = new Set(wordsOf("right center centre middle both top bottom"));

export const NEGATIONS = wordsOf(`
  no not non never dont isnt hasnt cannot without nicht nie kein keine keinen keiner nein pas sans nao não
  nunca niet geen nee inte ej ingen ikke ikkje ei nie bez ne není nem nu fără hayır değil не нет без ні μη όχι
`);

/** Parts of words that say that a person wants mail. With a negation they mean leaving. */
const WANTING_PARTS = wordsOf(`
  subscri confirm consent optin optedin activ aktiv verif permi allow agree accept valid reachab
  deliverab interest contact mail email newsletter marketing bestätig abonn einverst einwillig erlaub
  zustimm erwünscht erreichb zustellb inscri suscri souhait autoris actif attiv iscri confer
  bevestig ingeschr actief prenumer bekräft bekræft bekreft tilmeld påmeld aktywn potwierdz zapis potvrz
  potvrd přihlás onay abone актив подтвер подпис соглас підтвер підпис
`);

/** Words of mail that mean leaving as a whole value in each column. */
const SURE_WORDS = new Set(
  wordsOf("bounce bounces complaint complaints spam blacklist blocklist cleaned deceased"),
);

const LEAVING_WORD_SET = new Set([...LEAVING_WORDS, ...LEAVING_VALUES]);
const NEGATION_SET = new Set(NEGATIONS);

const NO = new Set(
  wordsOf(`
  不可 しない 不要 拒否 希望しない なし 無 关 关闭
  false 0 no n f off none null nil never na not nein non nee niet nej nei ei nie ne nem nu não nao
  hayır нет ні いいえ 否 不 아니오 όχι falsch faux falso falsa fałsz keine kein aucun ninguno
`),
);
const YES = new Set(
  wordsOf(`
  true 1 yes y t x on ja j oui o si sí s sim da tak ano áno igen kyllä evet да так はい 是 예 네 ναι wahr vrai
  verdadero vero verdadeiro prawda ok okay given granted agreed accepted confirmed verified active
  enabled subscribed optin optedin valid
`),
);
const TICKS = /^[✓✔☑✅]\ufe0f?$/u;
/** A date in any order, or seconds of an epoch. */
const TIME =
  /^\d{4}[-/.]\d|^\d{1,2}[-/.]\d{1,2}[-/.]\d|^\d{9,13}(?:\.\d+)?$|^(?:1[89]|20)\d{6}(?:\d{6})?$|^[a-z]{3,9},? \d{1,2}\b|^\d{1,2}\.? \p{L}{3,10}\.?,? \d{4}\b|^\d{4}年/iu;

/** True for a word for no, for a sign such as a dash, and for the date zero of MySQL. */
export function isNo(cell: string): boolean {
  const word = bareWord(cell);
  if (word === "") return !TICKS.test(cell.trim());
  return NO.has(word) || /^0+$/.test(word);
}

const NO_VALUE = new Set(["", "null", "nil", "na"]);

/** True for a no that does not stand for a missing value. */
export const isSpokenNo = (cell: string): boolean => isNo(cell) && !NO_VALUE.has(bareWord(cell));

export const isYes = (cell: string): boolean => YES.has(bareWord(cell)) || TICKS.test(cell.trim());

export const isTime = (cell: string): boolean => TIME.test(cell.trim()) && !isNo(cell);

/** The letters by which parts are looked up; shorter parts are not in Latin letters. */
const PART_START = 4;
const LONG_PARTS = Map.groupBy(
  LEAVING_PARTS.filter((part) => part.length >= PART_START),
  (part) => part.slice(0, PART_START),
);
/** The first two letters of the parts, because most places in a text begin no part. */
const STARTS_PART = new Uint8Array(1 << 14);
for (const start of LONG_PARTS.keys()) STARTS_PART[pairCode(start, 0)] = 1;
const SHORT_PARTS = LEAVING_PARTS.filter((part) => part.length < PART_START);

function pairCode(text: string, at: number): number {
  return ((text.charCodeAt(at) & 127) << 7) | (text.charCodeAt(at + 1) & 127);
}

function hasSurePart(bare: string): boolean {
  for (let at = 0; at + PART_START <= bare.length; at++) {
    if (STARTS_PART[pairCode(bare, at)] === 0) continue;
    const parts = LONG_PARTS.get(bare.slice(at, at + PART_START));
    if (parts?.some((part) => bare.startsWith(part, at)) === true) return true;
  }
  return !/^[a-z0-9]*$/.test(bare) && SHORT_PARTS.some((part) => bare.includes(part));
}

/** True if the name, bare, has a part that means leaving in each name. */
export const hasLeavingPart = (bare: string): boolean =>
  hasSurePart(bare) || LEAVING_NAME_PARTS.some((part) => bare.includes(part));

/** Words that mean leaving in a name, beside words such as "date". */
export const LEAVING_IN_NAMES = [...LEAVING_WORDS, LEFT];

type Leaving =
  /** Says that the person left, in a column of any name. */
  | "surely"
  /** Says it in a column of few words. */
  | "perhaps"
  | "left"
  /** A side: `left` in this column is no leaving. */
  | "side"
  | null;

/**
 * The certainty with which a value says that a person left. A list of values says it if one of them
 * does. In a column of texts (`isText`) only a word that surely says it counts.
 */
export function leavingIn(cell: string, isText: boolean): Leaving {
  const text = cell.trim();
  if (text.length > LONGEST_WORD || text === "" || /^[\d+(]|:\/\/|@|^www\./.test(text)) return null;
  const bare = bareWord(text);
  if (SURE_WORDS.has(bare)) return "surely";
  if (hasSurePart(bare) && wordsIn(text).length <= MOST_WORDS) return "surely";
  if (isText) return null;
  if (isNegated(wordsIn(text))) return "surely";
  for (const item of /[,;|/]/.test(text) ? text.split(/[,;|/]/).map(bareWord) : [bare]) {
    if (LEAVING_WORD_SET.has(item)) return "perhaps";
    if (item === LEFT) return "left";
    if (SIDES.has(item)) return "side";
  }
  return null;
}

const wordsIn = (text: string): string[] =>
  foldWords(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** Words for past activity: `Not Contacted` and `No activity` do not say whether a person wants mail. */
const DONE = /^(?:contacted|e?mailed|activit(?:y|ies))$/;

/** True for words such as `not confirmed`, `kein Newsletter` and `pas abonné`. */
function isNegated(words: readonly string[]): boolean {
  const at = words.findIndex((word) => NEGATION_SET.has(word));
  if (at === -1 || at > 1 || words.length > MOST_WORDS) return false;
  return words
    .slice(at + 1)
    .some((word) => !DONE.test(word) && WANTING_PARTS.some((part) => word.startsWith(part)));
}
