/**
 * Phrases about a mailbox in replies and reports: it is full, or it does not exist. Whether they
 * mean the mailbox of the recipient is decided elsewhere (sender-words.ts).
 */

export const MAILBOX_FULL = anyOf([
  /over ?-?quota|over (?:\S+ )?(?:disk|mail ?box|storage) quota|full mail ?box|quota (?:is |has been |was |limit )?(?:exceeded|full|reached)|exceed(?:s|ed|ing)? (?:the |his |its |their )?(?:\w+ )?quota/,
  /(?:mail ?box|inbox|mail ?drop|account|user|recipient|storage)\b.{0,30}\b(?:full|out of (?:storage|space))/,
  /(?:overdrawn|reached|used up) (?:\S+ )?(?:dis[ck] ?space|dis[ck]|storage|mail ?box) ?quota|quota violation|(?:not|n'?t) (?:have )?enough (?:disk |storage |mail ?box )?space\b(?!.{0,20}(?:server|system))/,
  /(?:postfach|mail ?box|speicher(?:platz)?|kontingent|quota) (?:\S{1,64} ){0,3}(?:voll|(?:ü|ue)berf(?:ü|ue)llt|ersch(?:ö|oe)pft|(?:ü|ue)berschritten)|volles postfach/,
  /(?:bo.{1,2}te|messagerie|casier) (?:\S{1,64} ){0,5}(?:pleine?|satur.{1,2}e?)(?![a-z])|quota (?:\S{1,64} ){0,2}d.{1,2}pass/,
  /(?:buz.{1,2}n|casilla|bandeja) (?:\S{1,64} ){0,5}llen[oa]|cuota (?:\S{1,64} ){0,3}(?:excedida|superada)/,
  /casell[ae] (?:\S{1,64} ){0,4}pien[ae]|quota (?:\S{1,64} ){0,2}superata|caixa (?:\S{1,64} ){0,4}chei[ao]|cota (?:\S{1,64} ){0,2}excedida/,
  /(?:postvak|brievenbus|mail ?box) (?:\S{1,64} ){0,3}vol(?![a-z])|(?:brevl.{1,2}dan?|postkassen?|postboksen?|innboksen?|inkorgen?) (?:\S{1,64} ){0,3}(?:full|fuld)|postilaatikko (?:\S{1,64} ){0,3}t.{1,2}ynn/,
  /skrzynka (?:\S{1,64} ){0,4}(?:pe.{1,2}na|przepe.{1,2}niona)|schr.{1,2}nka (?:\S{1,64} ){0,4}pln|posta ?kutusu (?:\S{1,64} ){0,3}dolu|postafi.{1,2}k (?:\S{1,64} ){0,3}megtelt/,
  /ящик .{0,40}(?:переполнен|заполнен|полон)|квота .{0,20}превышена|邮箱.{0,20}(?:已满|空间不足|容量)|メールボックス.{0,20}(?:容量|いっぱい)/,
  /\bbal pleine|(?:inbox|mail ?box|postvak) (?:\S{1,64} ){0,4}(?:is )?vol(?![a-z])|(?:mail ?box|inbox) (?:is )?over(?:full|flow)|(?:mail ?box|inbox) (?:has |is |have )?(?:exceeded|reached|over) (?:the |its |his |their )?(?:\w{1,20} )?(?:limit|size)/,
  /exceeded storage allocation|mail ?box exceeds|(?:mail ?box|storage|disk) (?:size |space |storage )?(?:limit|exceeded)/,
]);

/** Phrases that mean that a mailbox does not exist, with any code. */
export const UNKNOWN_RECIPIENT = anyOf([
  /(?:user|recipient|mail ?box|account|addressee|(?<!\bip |client |host |server )address|alias|local part)\b.{0,40}\b(?:unknown(?! (?:sender|client|helo|host|command|reason|error|network|ip))|not found(?! in (?:\S{1,20} )?(?:white|allow))|not known|(?:does|did) not exist|doesn'?t exist|not exists?|could(?:n'?t| not) be found|no longer (?:exists?|valid|available|in use|active|with|works|employed))/,
  /(?:unknown|no such|non-?existent)[ -]?(?:virtual |local |e-?mail |mail )?(?:user|recipient|mail ?box|account|address|alias|person|local part|or illegal alias)/,
  /no (?:valid )?(?:mail ?box|user|account|recipients?|address|person|one) (?:here|found|available|by that name|with that|of that name|at this address|exists?)|no valid recipients?\b/,
  /(?:invalid|(?:not|isn'?t) a (?:valid|known|local))[ -](?:user|recipient|mail ?box|destination mail ?box|addressee|local part|final delivery)|not a (?:valid|local) address|userunknown|(?:user|recipient|mail ?box)(?: address| name)? (?:is )?(?:not valid|invalid)/,
  /not (?:listed )?in (?:the |my |our |this |its )?(?:\w{1,20} ){0,2}(?:recipients?|users?|mail ?box(?:es)?|address|rcpt) (?:list|table|map|database|directory)/,
  /(?:unable to|can(?:no|')?t|could(?:n'?t| not)) (?:find|locate) (?:the |this |that |a )?(?:user|recipient|mail ?box|account|address)|(?:destination|recipient) addresse?s? (?:were|was|is|are) unknown/,
  /address no longer (?:accepts|receives)|mail ?box (?:\S{1,64} )?unavailable or access denied|\bin name directory|not in (?:our|the) directory|^\W{0,5}(?:rcpt(?: to)?\W{0,5})?(?:does not|doesn'?t) exist/,
  /(?:valid|bad)(?:rcptto|recipientto)\b|\bbad[-_ ]recipient\b|(?:user|recipient|account|address)s? (?:is |was |are )?not (?:present|listed|found|known) in (?:the |our )?(?:\w{1,20} )?directory/,
  /(?:mail ?box|recipient|account|user) (?:is |was )?not (?:present|found|known|hosted|local)\b|user (?:is )?missing home directory|not an active address/,
  /(?:user|account|mail ?box|(?<!\bip |client |host |server )address|recipient|alias) (?:\S{1,64} )?(?:is |has been |was |been )?(?:already |permanently |now )?(?:terminated|deleted|removed|closed|discontinued|decommissioned|retired|cancell?ed|abandoned|dormant|expired|archived|(?<!account (?:\S{1,64} )?)unsubscribed)(?! (?:from|by) )|mail ?box (?:is )?inactive/,
  /(?:user|account|mail ?box|address|recipient)\b.{0,60}\b(?:(?:due to|because of|for|after) (?:\w{1,20} ){0,3}(?:inactivity|non-?use)|(?:(?:is|was|are) )?not active(?! (?:list|sender|yet))|not (?:currently )?in use\b|not (?:been )?(?:used|accessed|logged in) (?:for|in|since))|expired (?:user|account|mail ?box)|(?:user|account|mail ?box) has expired/,
  /\bno longer (?:\w{1,20} ){0,2}(?:with (?:the|this|our|us)\b|at (?:the |this |our )?(?:company|organi[sz]ation|firm|school|university|address)|works?(?:ing)?\b|employed|an? (?:employee|member|student|customer)\b|part of (?:the|this|our))|\bleft (?:the |our |this )?(?:company|organi[sz]ation|firm|school|university|business|institution)|(?:does not|doesn'?t) (?:longer )?work (?:here|for)|das unternehmen verlassen|nicht mehr (?:im unternehmen|bei uns|besch(?:ä|ae)ftigt|vorhanden|g(?:ü|ue)ltig|aktiv)|ne travaille plus|ya no trabaja|non lavora pi/,
  /hosted tenant which has no mail-enabled subscriptions|^\W{0,5}address rejected\W{0,5}$/,
  /unrout(?:e)?able address|(?:does not|doesn'?t) have an? \S+ account|recip(?:ient)? ?not ?found/,
  /(?:utilisateur|destinataire|adresse|boite) (?:\S{1,40} ){0,2}(?:inconnue?|introuvable|n'existe pas)|(?:compte|utilisateur|destinataire|adresse|bo.{1,2}te)\b.{0,40}n['’]existe (?:pas|plus)|adresse d au moins un destinataire invalide/,
  /(?:usuario|destinatario|buz[oó]n|cuenta) (?:\S{1,40} ){0,2}(?:desconocid[oa]|inexistente|no existe)|no existe (?:dicha |ese |el |la )?(?:persona|usuario|destinatario|cuenta)/,
  /(?:empf(?:ä|ae)nger|benutzer|postfach|adresse) (?:\S{1,40} ){0,2}(?:unbekannt|existiert nicht|nicht gefunden)|kein(?:en)? (?:solche|entsprechende)[rn]? (?:benutzer|empf)|nie istnieje|nessun utente|(?:utente|destinatario) (?:sconosciuto|inesistente)/,
  /(?:пользовател|получател|адрес|ящик).{0,40}(?:не существует|не найден|неизвест)|(?:用户|收件人|邮箱|帐号|账号).{0,20}不存在/,
]);

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => pattern.source).join("|"), "i");
}
