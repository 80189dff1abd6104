/** Texts of the preference page in Japanese. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesJa: PreferenceTexts = {
  title: "配信の設定",
  choose: "受け取る内容を選ぶ・一時休止する",
  saved: "変更を保存しました。",
  nothingChanged: "変更する内容はありませんでした。",
  topics: "受け取りたい内容",
  noTopics:
    "トピックが選択されていません。どのトピックにも属さないメールマガジンは、引き続き届くことがあります。すべて停止するには、「すべての配信を停止する」をお選びください。",
  pause: "配信を一時休止する",
  pauseHint: "購読はそのまま続き、休止が終わるまでメールマガジンは届きません。",
  noPause: "休止しない",
  pauseMonth: "1か月間",
  pauseQuarter: "3か月間",
  pauseUntil: "日付を指定する",
  pauseDay: "配信を再開する日",
  pauseDayFault: "明日から1年以内の日付をお選びください。",
  paused: "{date} までメールマガジンは届きません。",
  language: "言語",
  languageHint: "このページの言語です。{project} からのメールにも使われることがあります。",
  tracking: "開封とクリックの測定",
  trackingLabel: "{project} によるメールの開封とリンクのクリックの測定を許可する",
  trackingHint: "チェックが入っていない場合、これらは記録されません。",
  save: "保存する",
  unsubscribeAll: "すべての配信を停止する",
  address: "メールアドレス",
  addressHint:
    "まず現在のアドレスに、続いて新しいアドレスに確認のメールをお送りします。両方の確認が済むと、アドレスが変更されます。",
  newAddress: "新しいメールアドレス",
  newAddressFault: "name@example.com のように、メールアドレス全体を入力してください。",
  changeAddress: "アドレスを変更する",
  data: "お客様のデータ",
  dataHint: "安全のため、まず {email} にリンクをお送りします。",
  sendData: "データの写しを請求する",
  deleteData: "データを削除する",
  mailSent:
    "{email} にメールをお送りしました。メール内のリンクは24時間有効です。届かない場合は迷惑メールフォルダーをご確認のうえ、1時間後にもう一度お試しください。",
  unavailable:
    "現在、このページからは手続きできません。{project} からのメールに返信してお問い合わせください。",
  askExport: {
    title: "データをダウンロードしますか？",
    text: "ファイルには、{project} が保存しているお客様のデータが含まれます。",
  },
  download: "ダウンロードする",
  view: "ブラウザーで表示する",
  askErasure: {
    title: "データを削除しますか？",
    text: "{project} が保存しているお客様のデータ（アドレス、設定、お送りしたメール）を削除します。この操作は元に戻せません。",
  },
  erase: "データを削除する",
  erased: {
    title: "データを削除しました",
    text: "{project} が保存していたお客様のデータを削除しました。{date} 付の受付番号は {receipt} です。",
  },
  askAddress: {
    title: "アドレスを変更しますか？",
    text: "{project} からのメールの送信先を {email} に変更します。その前に、新しいアドレスを確認するためのメールをお送りします。",
  },
  acceptAddress: "変更する",
  addressAccepted: {
    title: "新しいアドレスを確認してください",
    text: "{email} にメールをお送りしました。そのメールで確認が済むと、アドレスが変更されます。リンクは24時間有効です。",
  },
  askNewAddress: {
    title: "このアドレスを使いますか？",
    text: "今後、{project} からのメールを {email} にお送りします。",
  },
  confirmAddress: "アドレスを確認する",
  addressChanged: {
    title: "アドレスを変更しました",
    text: "今後、{project} からのメールを {email} にお送りします。",
  },
  linkOver: {
    title: "このリンクは期限切れです",
    text: "すでに使用されたか、24時間を過ぎています。もう一度手続きするには、メール内のリンクから配信の設定を開いてください。",
  },
  exportMail: {
    subject: "{project} に保存されているデータについて",
    text: "{project} が保存しているお客様のデータの写しについて、ご請求を受け付けました。24時間以内にダウンロードできます。",
    button: "データをダウンロードする",
  },
  erasureMail: {
    subject: "{project} に保存されているデータの削除について",
    text: "{project} が保存しているお客様のデータの削除について、ご依頼を受け付けました。24時間以内にご確認ください。この操作は元に戻せません。",
    button: "手続きに進む",
  },
  addressMail: {
    subject: "{project} に登録されているアドレスの変更について",
    text: "{project} からのメールの送信先を、このアドレスから {email} に変更するご依頼を受け付けました。24時間以内にご確認ください。",
    button: "手続きに進む",
  },
  newAddressMail: {
    subject: "{project} に登録するアドレスの確認",
    text: "今後、{project} からのメールをこのアドレスで受け取るご依頼を受け付けました。24時間以内にご確認ください。",
    button: "手続きに進む",
  },
  addressNotice: {
    subject: "{project} に登録されているアドレスが変更されました",
    text: "{project} からのメールの送信先は、このアドレスから {email} に変更されました。お心当たりがない場合は、このメールに返信してください。",
  },
  mailNote: "お心当たりがない場合は、このメールを破棄してください。何も変更されません。",
};
