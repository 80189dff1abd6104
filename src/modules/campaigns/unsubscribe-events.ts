/** Events of recipients who leave by a link in a mail: all marketing mail, or the topic of the mail. */

/** SQL list of their names. */
export const UNSUBSCRIBE_EVENTS = "'contact.unsubscribed', 'contact.topic_unsubscribed'";
