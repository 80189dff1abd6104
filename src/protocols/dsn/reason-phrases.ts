/**
 * Phrases of reports that quote no SMTP reply, or whose status code says less than their words. Each
 * phrase stands for an enhanced status code (RFC 3463), which is then classified like a reply.
 */

import { DNS_FAILURE, NO_SUCH_DOMAIN } from "../smtp/dns-words.ts";
import { MAILBOX_FULL } from "../smtp/mailbox-words.ts";

type Phrase = { readonly status: string; readonly pattern: RegExp };

const PHRASES: readonly Phrase[] = [
  { status: "5.4.4", pattern: DNS_FAILURE },
  {
    // The mail goes round in circles, or the receiving server is broken.
    status: "5.4.4",
    pattern: anyOf([
      /loops? back to myself|mail loop|(?:message|mail) (?:is )?looping|too many hops|hop count|too many "?received"? headers/,
      /does not (?:advertise|support) (?:auth|starttls)|command died with|exit status \d|mailer (?:error|exited)|could not find a gateway for/,
    ]),
  },
  { status: "5.1.2", pattern: NO_SUCH_DOMAIN },
  {
    status: "5.2.2",
    pattern: anyOf([
      MAILBOX_FULL,
      /(?:mail ?box|mailbox space|inbox|mail ?drop|maildir|mail ?folder|disk) (?:\S+ ){0,4}(?:is |has been |was )?(?:currently )?(?:full|over quota|over its quota|exceeded)/,
      /user mailbox exceeds|(?:reached|exceeding|exceeded|overdrawn) (?:\S+ )?(?:disk ?space |disk |mailbox |storage )?quota|mail ?box space not enough|exceeds? (?:the )?(?:maximum )?(?:mailbox|disk|storage)(?: \w+)? (?:size|quota|limit)/,
    ]),
  },
  {
    status: "5.1.1",
    pattern: anyOf([
      /not listed in (?:the )?(?:public name|domino directory|public directory)|no route found to domain|recipnotfound|recipientnotfound/,
      /(?:sorry, )?no mailbox here by that name|this address no longer accepts mail|address (?:couldn'?t|could not|wasn'?t|was not) be? ?found/,
      /(?:e-?mail address|recipient'?s? address|account|user|recipient|mailbox)(?: \S+| you entered| you tried to reach){0,3} (?:couldn'?t be found|could not be found|wasn'?t found|was not found|not found|does(?: not|n'?t) exist|is not known|is unknown|unknown)/,
      /does ?n[o']?t have an? \S{1,60} account|unknown (?:local )?(?:user|recipient|address|mailbox|account|addressee)|no such (?:user|recipient|mailbox|account|person|address)/,
      /(?:not|n'?t) (?:a )?valid (?:user|recipient|mailbox|account)|address is (?:wrong|incorrect) or|no longer valid|no valid recipients|no matches to nameserver query|invalid final delivery|recipient name is not recognized|not have a final e-?mail delivery point/,
      /invalid (?:recipient|mailbox|address|user)|(?:account|mailbox|address) (?:has been |is |was )(?:disabled|closed|deleted|terminated|deactivated|suspended|blocked for inactivity)/,
      /(?:empfänger|adresse|benutzer|postfach) .{0,60}(?:unbekannt|existiert nicht|nicht gefunden|nicht vorhanden)|unbekannter (?:empfänger|benutzer)/,
      /(?:destinataire|adresse|utilisateur) .{0,60}(?:inconnue?|introuvable|n'existe pas)|(?:usuario|destinatario|dirección|cuenta) .{0,60}(?:desconocid[oa]|no existe|inexistente|no encontrad[oa])/,
      /(?:utente|destinatario|indirizzo|casella) .{0,60}(?:sconosciut[oa]|non esiste|inesistente|non trovat[oa])|(?:usuário|destinatário|endereço|conta) .{0,60}(?:desconhecid[oa]|não existe|inexistente)/,
      /(?:пользовател|получател|адрес|ящик).{0,60}(?:не существует|не найден|неизвест|заблокирован)|(?:收件人|收信人|用户|帐号|账号|邮箱).{0,60}(?:不存在|未找到|无效)/,
      /(?:宛先|ユーザー|アドレス).{0,40}(?:存在しません|見つかりません|見つかりませんでした|ありません)|(?:użytkownik|adresat|odbiorca|konto) .{0,40}(?:nie istnieje|nieznany|nie znaleziono)/,
    ]),
  },
  {
    status: "4.4.1",
    pattern: anyOf([
      /connection (?:was )?(?:timed out|refused|dropped|reset|closed)|connect to \S{1,200}: (?:no route|operation timed out)|could ?n[o']t establish an smtp connection|network is unreachable/,
      /lost connection with|no answer from host|conversation with .{1,200} timed out|the recipient server did not accept our requests to connect|did not respond|remote server did not answer|not (?:was )?reachable|all hosts have been failing|(?:exceeded|after) (?:maximum )?(?:delivery attempts|multiple retries)|delivery (?:time )?expired|message expired|delivery failed \d{1,4} attempts|in the queue too long/,
    ]),
  },
];

/** The enhanced status code that the words stand for; null if no phrase is known. */
export function statusOfPhrase(text: string): string | null {
  return PHRASES.find(({ pattern }) => pattern.test(text))?.status ?? null;
}

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => pattern.source).join("|"), "iu");
}
