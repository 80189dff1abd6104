/** Texts in Japanese. */

import type { Texts } from "../language.ts";

export const ja: Texts = {
  language: "ja",
  unsubscribe: "配信を停止する",
  subscribe: "購読する",
  newAddress: "新しいアドレス",
  askUnsubscribe: {
    title: "配信を停止しますか？",
    text: "{project} から {email} へのメールマガジンの配信を停止します。",
  },
  askSubscribe: {
    title: "購読しますか？",
    text: "{project} のメールマガジンを {email} にお送りします。",
  },
  unsubscribed: {
    title: "配信は停止されています",
    text: "{project} から {email} へのメールマガジンは配信されません。",
  },
  subscribed: {
    title: "購読中です",
    text: "{project} のメールマガジンを {email} にお送りしています。",
  },
  manage: "配信の設定",
  note: "ご注文やアカウントに関するメールは、引き続き届くことがあります。",
  contactDeleted: {
    title: "このリンクは現在使えません",
    text: "このメールの送信先アドレスは、その後削除されました。メールマガジンがまだ届く場合は、最新のメールにあるリンクをお使いください。",
  },
  invalidLink: {
    title: "このリンクは無効です",
    text: "リンクが途中で切れている可能性があります。メールからもう一度開くか、リンク全体をコピーしてください。",
  },
  serverError: {
    title: "処理できませんでした",
    text: "サーバー側で問題が発生しました。数分後にもう一度お試しください。",
  },
  footer: "このメールは、{project} のメールマガジンを購読されている方にお送りしています。",
};
