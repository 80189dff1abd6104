<?php
// Submits a mail with PHPMailer. Arguments: port, secret key, JSON file with the mail, its library.

use PHPMailer\PHPMailer\PHPMailer;

[, $port, $key, $file, $library] = $argv;
require "$library/Exception.php";
require "$library/PHPMailer.php";
require "$library/SMTP.php";
$mail = json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR);

$mailer = new PHPMailer(true);
$mailer->isSMTP();
$mailer->Host = '127.0.0.1';
$mailer->Port = (int) $port;
$mailer->SMTPAuth = true;
$mailer->SMTPAutoTLS = false;
$mailer->Username = 'any';
$mailer->Password = $key;
$mailer->CharSet = 'utf-8';
$mailer->setFrom($mail['from']);
$mailer->addAddress($mail['to']);
$mailer->Subject = $mail['subject'];
$mailer->isHTML(true);
$mailer->Body = $mail['html'];
$mailer->AltBody = $mail['text'];
$mailer->addAttachment($mail['attachment'], $mail['filename']);
$mailer->send();
