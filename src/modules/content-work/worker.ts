/** A thread that renders and checks the content of mails (content-work.ts). */

import { answerTasks } from "../../lib/answer-tasks.ts";
import { runContentTask } from "./tasks.ts";

answerTasks(runContentTask);
