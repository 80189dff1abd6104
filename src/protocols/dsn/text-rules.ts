/**
 * Bounces that follow no standard: the phrase with which each kind of server, or each provider,
 * opens its report. The words after it name the recipients and the reason (text-report.ts).
 */

type TextRule = {
  /** Kind of server or provider. */
  name: string;
  /** The opening phrase. Any run of white space in the report matches a space. */
  opening: RegExp;
  /** Also matched, against the header From. */
  from?: RegExp;
  /** The report says that the mail waits and will be tried again. */
  isDelay?: true;
};

const rule = (name: string, opening: RegExp): TextRule => ({ name, opening });
const delay = (name: string, opening: RegExp): TextRule => ({ name, opening, isDelay: true });

/** Words with which any server says that it will try again. */
/** Words of the subject of a delay that a bounce does not have. */
export const DELAY_SUBJECT = /\(delay(?:ed)?\)|\bdelayed\b|\bdelay notification\b/i;

export const DELAY_WORDS =
  /delivery attempts will continue|will (?:keep (?:re)?trying|(?:re)?try (?:again|for|until|to deliver)|continue (?:to (?:re)?(?:try|attempt|be (?:made|tried))|(?:re)?trying))|will (?:be )?retr(?:y|ied)\b|(?:has been|was|is) delayed\b|no action is required on your part|this is (?:just|only) a warning|warning message only|advisory-only/i;

export const TEXT_RULES: readonly TextRule[] = [
  // Delays first: the same servers open their bounces in a similar way.
  delay("Exim", /message that you (?:have )?sent has not yet been delivered to one or more/i),
  delay("Exim", /message that you (?:have )?sent has not yet been delivered/i),
  delay("Sendmail", /addresses had transient non-fatal errors|this is a warning message only/i),
  delay(
    "Postfix",
    /your message could not be delivered for (?:more than )?[\w .]{1,40}\. it will be retried/i,
  ),
  delay("Postfix", /this is a warning only/i),
  delay("OpenSMTPD", /a message is delayed for more than/i),
  delay("Gmail", /there was a temporary problem (?:while )?delivering your message to/i),
  delay(
    "Exchange",
    /delivery (?:of this message )?(?:to the following recipients )?(?:is|has been) delayed/i,
  ),
  delay("qmail", /your message has been (?:delayed|enqueued and undeliverable)/i),
  delay("CommuniGate Pro", /delayed, but will be retried/i),
  delay("generic", /has not (?:yet )?been delivered because|has been postponed/i),

  rule(
    "qmail",
    /i(?:'|’)m afraid i wasn(?:'|’)t able to deliver your message to the following address/i,
  ),
  rule("qmail", /this is the qmail-send program/i),
  rule("Apache James", /this is the james mail server/i),
  rule("Sun Internet Mail", /your message cannot be delivered to the following recipients/i),
  rule(
    "qmail",
    /(?:was|were) not able to deliver (?:your|the following) message|your mail was not delivered to the following address/i,
  ),
  rule("DragonFly", /this is the dragonfly mail agent|there was an error delivering your mail to/i),
  rule(
    "Exim",
    /message (?:that you (?:have )?sent|sent by \S{1,320}) could not be delivered to (?:one or more|all) of its/i,
  ),
  rule("1&1", /message that you (?:have )?sent could not be delivered to one or more recipients/i),
  rule("GMX", /unfortunately,? your message could not be delivered to the following address/i),
  rule(
    "GMX",
    /ihre nachricht konnte (?:leider )?nicht zugestellt werden|ihre e-?mail konnte (?:leider )?nicht zugestellt werden/i,
  ),
  rule(
    "Microsoft",
    /fehler bei der nachrichtenzustellung an folgende|die nachricht konnte nicht an .{1,200} zugestellt werden/i,
  ),
  rule(
    "Microsoft",
    /échec de la remise (?:pour|à) ces destinataires|votre message .{0,200}n(?:'|’)a pas (?:pu être|été) remis/i,
  ),
  rule(
    "Microsoft",
    /no se pudo entregar (?:el|su) mensaje|no se puede entregar (?:el|su) mensaje/i,
  ),
  rule(
    "Postfix",
    /i(?:'|’)m sorry to have to inform you that (?:the|your) message (?:returned below )?could not/i,
  ),
  rule("Postfix", /this is the (?:postfix|mail system) (?:program )?at host/i),
  rule(
    "Sendmail",
    /addresses had (?:permanent fatal errors|permanent delivery errors|delivery (?:problems|errors))/i,
  ),
  rule("Sendmail", /----- ?transcript of session follows/i),
  rule("Exchange", /your message did not reach some or all of the intended recipients/i),
  rule("Exchange", /delivery has failed to these recipients or (?:groups|distribution lists)/i),
  rule("Exchange", /did not reach the following recipients?(?:\(s\))?/i),
  rule("Exchange", /the following recipient\(s\) (?:could not|cannot) be reached/i),
  rule("Microsoft", /your message to .{1,300} couldn(?:'|’)t be delivered/i),
  rule("Microsoft IIS", /delivery to the following recipients? failed\./i),
  rule("Gmail", /delivery to the following recipients? (?:has )?failed permanently/i),
  rule(
    "Gmail",
    /your message (?:to .{1,300} )?(?:wasn(?:'|’)t|was not) delivered to .{1,300} because|your message to .{1,300} has been blocked/i,
  ),
  rule("Gmail", /there was a problem delivering your message to|\*\* message not delivered \*\*/i),
  rule("Yahoo", /sorry,? we were unable to deliver your message to the following address/i),
  rule(
    "Yahoo",
    /message from \S{1,255} unable to deliver message to the following address\(es\)|unable to deliver message to the following address/i,
  ),
  rule(
    "Google Groups",
    /(?:the )?group you tried to contact|\bgoogle (?:groups|groupes|gruppen|grupos|gruppi|グループ) {0,3}(?:$|-----)/i,
  ),
  rule(
    "AOL",
    /the following message could not be delivered because|your mail to the following recipients could not be delivered/i,
  ),
  rule(
    "Apple",
    /this is a system-generated message to inform you that your e-?mail could not be delivered/i,
  ),
  rule("Domino", /was not delivered to:/i),
  rule("Domino", /delivery failure report/i),
  rule("Lotus SMTP", /your mail item could not be delivered/i),
  rule("IronPort", /the following message to .{1,300} was undeliverable/i),
  rule(
    "Proofpoint",
    /message (?:could not be|was) (?:un)?deliver(?:ed|able)(?: to .{1,200})? due to the following (?:reason|error)|this message was undeliverable due to the following reason/i,
  ),
  rule("Proofpoint", /the message you attempted to send could not be delivered/i),
  rule(
    "Mimecast",
    /we (?:were|are) unable to deliver your (?:message|e-?mail)(?: to)?|mimecast .{0,80}could not deliver/i,
  ),
  rule("Barracuda", /your message to:? .{1,300} was (?:blocked|considered|not delivered)/i),
  rule("Barracuda", /the e-?mail you sent with the following subject has not been delivered/i),
  rule(
    "Messaging Server",
    /this report relates to a message you sent with the following header fields/i,
  ),
  rule("CommuniGate Pro", /failed to deliver to '/i),
  rule(
    "MDaemon",
    /the attached message had permanent fatal delivery errors|message had permanent delivery errors/i,
  ),
  rule("MailEnable", /message could not be delivered to some recipients/i),
  rule(
    "IMail",
    /delivery failed \d{1,4} attempts?:|undeliverable to (?:the following|mailbox)|user mailbox exceeds allowed size/i,
  ),
  rule(
    "IMail",
    /(?:^|\s)(?:unknown user|unknown host|invalid final delivery userid): ?<?\S{1,320}@|(?:^|\s)undeliverable to \S{1,64}@/i,
  ),
  rule("SmarterMail", /could not deliver message to the following recipient/i),
  rule("Courier", /undeliverable mail|this is a delivery status notification from/i),
  rule("GroupWise", /the message that you sent was undeliverable to the following/i),
  rule(
    "IceWarp",
    /the following recipients? failed permanently|message could not be delivered to the following recipient/i,
  ),
  rule("OpenSMTPD", /an error has occurred while attempting to deliver a message for/i),
  rule("Haraka", /i(?:'|’)m afraid your message was not delivered|this is the haraka mail/i),
  rule(
    "Amazon SES",
    /an error occurred while trying to deliver the mail to the following recipients/i,
  ),
  rule("SendGrid", /your message was not able to be delivered to one of its intended recipients/i),
  rule("T-Online", /message log follows/i),
  rule("EarthLink", /sorry,? unable to deliver your message to/i),
  rule("Trend Micro", /unable to deliver (?:the )?message to:? ?</i),
  rule(
    "MailMarshal",
    /your message could not be delivered to|(?:could|was) not (?:be )?delivered to the recipient/i,
  ),
  rule(
    "InterMail",
    /could not be delivered to the following (?:recipients?|address(?:es)?)|the following address(?:es)? (?:have )?failed/i,
  ),
  rule(
    "X.400 gateway",
    /your message was not delivered to the following recipients|non-?delivery report for/i,
  ),
  rule(
    "KDDI",
    /your mail (?:sent on|attempted to be delivered on):? .{1,80}could not be delivered/i,
  ),
  rule("KDDI", /each of the following recipients was rejected by a remote mail server/i),
  rule("MailMarshal", /could not be delivered because of/i),
  rule("Lotus SMTP", /-{5,9} failure reasons -{5,9}/i),
  rule("m-FILTER", /-{5,9}server message/i),
  rule("InterScan", /message from interscan|sent <<< rcpt to:/i),
  rule("SurfControl", /your message could not be sent\. a transcript/i),
  rule("XWall", /has encountered (?:a )?delivery problems?/i),
  rule("Verizon", /message could not be delivered to mobile|error message below: [45]\d\d\b/i),
  rule("HotPOP", /undeliverable address: ?\S{1,320}@/i),
  rule("LSMTP", /an error was detected while processing the enclosed message/i),
  rule("USA.NET", /mail has been returned because it encountered an error while being processed/i),
  rule("MDaemon", /there is no user by that name at this server/i),
  rule("Dovecot", /your message to \S{1,320} was automatically rejected/i),
  rule("phquery", /message not delivered to the following/i),
  rule("hosted mail", /delivery of e-?mail to this address .{1,200}has failed/i),
  rule("Biglobe", /the user\(s\) account is (?:disabled|temporarily (?:limited|over quota))/i),
  rule(
    "Kerio",
    /your message has not been delivered to|your e-?mail message could not be delivered/i,
  ),
  rule("Zoho", /this is an automatically generated delivery status notification/i),
  rule(
    "Orange",
    /votre (?:message|e-?mail|courrier) .{0,80}n(?:'|’)a (?:pas )?pu être (?:délivré|distribué|remis|acheminé)/i,
  ),
  rule(
    "Libero",
    /il (?:tuo|suo|vostro)? ?messaggio .{0,80}non (?:è stato|può essere) (?:consegnato|recapitato)/i,
  ),
  rule("UOL", /(?:sua|a) mensagem .{0,80}não (?:pôde|pode|foi) (?:ser )?entregue/i),
  rule("Terra", /su (?:mensaje|correo) .{0,80}no (?:pudo|ha podido) ser entregado/i),
  rule("Onet", /twoja wiadomość .{0,80}nie (?:została|może zostać|mogła zostać) dostarczona/i),
  rule(
    "Mail.ru",
    /(?:ваше )?(?:сообщение|письмо) .{0,80}не (?:может быть|было|удалось|доставлено|могло быть)/i,
  ),
  rule(
    "Mail.ru",
    /it was not possible to deliver your message|message was not accepted by server|your message was not accepted/i,
  ),
  rule("QQ", /(?:抱歉|很抱歉|对不起).{0,20}您的邮件被退回|退信原因|无法(?:发送|送达|投递)到/),
  rule(
    "NetEase",
    /您的邮件(?:未能|没有|无法)|the following (?:e-?mail|mail) (?:could|can) not be delivered/i,
  ),
  rule(
    "Yahoo Japan",
    /(?:メール|メッセージ).{0,40}(?:配信でき|送信でき|お届けでき|配送でき)(?:ません|なかった)/,
  ),
  rule(
    "SurgeMail",
    /(?:mail|message) delivery (?:to .{1,200} )?(?:has )?failed (?:because|for|after)|message could not be delivered because/i,
  ),
  rule("Cisco", /your message .{0,200}was rejected by the (?:recipient|remote|destination)/i),
  rule(
    "generic",
    /could ?n[o']t be delivered to(?: the following)?[ :]|cannot be delivered to the following|(?:recipients? did not receive|we had trouble delivering|has not been delivered|unable to deliver) (?:this |your |the )?(?:e-?mail|mail|message)/i,
  ),
  rule(
    "generic",
    /this is a (?:delivery failure notification|permanent error)|-{3,9} ?failed recipients|permanent error(?:;|:|\.) .{0,40}address(?:es)? failed|failed recipients?:/i,
  ),
];
