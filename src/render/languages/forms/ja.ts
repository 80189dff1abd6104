/** Texts of sign-up forms in Japanese. */

import type { FormTexts } from "../../form-texts.ts";

export const jaForm: FormTexts = {
  email: "メールアドレス",
  optional: "任意",
  choose: "選択してください",
  topics: "受け取る内容をお選びください",
  trap: "この欄は空のままにしてください",
  summary: "印の付いた項目を確認してください。",
  errors: {
    required: "この項目を入力してください。",
    email: "ada@example.com のようなメールアドレスを入力してください。",
    tooLong: "{max} 文字以内で入力してください。",
    number: "数値を入力してください。",
    date: "日付を入力してください。",
    choice: "選択肢から選んでください。",
    checkbox: "チェックを入れてください。",
    consent: "同意が必要です。",
  },
  checkInbox: {
    title: "メールをご確認ください",
    text: "リンクを記載したメールをお送りしました。リンクを開いて確認すると、購読が始まります。",
  },
  thanks: {
    title: "ご登録ありがとうございます",
    text: "確認が必要な場合は、リンクを記載したメールをお送りします。受信トレイをご確認ください。",
  },
  closed: {
    title: "このフォームは現在受け付けていません",
    text: "現在、こちらから新しく購読することはできません。",
  },
  tooMany: {
    title: "リクエストが多すぎます",
    text: "1 時間ほど経ってからもう一度お試しください。",
  },
  foreign: {
    title: "このフォームはここでは使えません",
    text: "アクセス元のサイトは、このフォームの使用を許可されていません。",
  },
  askConfirm: {
    title: "購読を確認してください",
    text: "{project} のメールマガジンを {email} にお送りします。",
  },
  confirm: "確認する",
  confirmed: {
    title: "購読が始まりました",
    text: "ありがとうございます。{project} のメールマガジンを {email} にお送りします。",
  },
  alreadyConfirmed: {
    title: "すでに確認済みです",
    text: "購読はすでに確認されています。ほかに必要な操作はありません。",
  },
  expired: {
    title: "このリンクは有効期限が切れています",
    text: "確認メールのリンクは 7 日間有効です。新しいメールを受け取るには、フォームをもう一度送信してください。",
  },
  mail: {
    subject: "{project} の購読を確認してください",
    text: "{project} のメールマガジンをこのアドレスに送るよう申し込みがありました。ご本人の場合は確認をお願いします。",
    button: "購読を確認する",
    ignore:
      "お心当たりがない場合は、このメールを無視してください。何も送信されません。リンクは 7 日間有効です。",
  },
};
