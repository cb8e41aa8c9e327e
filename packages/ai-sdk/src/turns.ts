/** Which turns of a prompt are new: the rule that the adapters in Python have too.
 *
 * The same words before anybody answered are the same turn, because somebody tries again. A prompt
 * has no ids, so the words are held beside those on the desk of the session. */

import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

import { callsTool, said, told } from "./messages.js";
import type { WorkingItem } from "./service.js";

export type Speaker = "user" | "assistant" | "tool";

export interface Said {
  speaker: Speaker;
  text: string;
  /** The id of the call that a tool answers. */
  callId?: string;
}

const TURN = /^turn \d+ \((.*)\)$/;

/** What people and tools have said since the last answer, in order.
 *
 * What a model says while it calls tools is no answer yet. */
export function sinceLastAnswer(prompt: LanguageModelV4Prompt): Said[] {
  const answer = prompt.findLastIndex((one) => one.role === "assistant" && !callsTool(one));
  return prompt.slice(answer + 1).flatMap((message): Said[] => {
    if (message.role === "user") return [{ speaker: "user", text: said(message) }];
    if (message.role !== "tool") return [];
    return message.content.flatMap((part) =>
      part.type === "tool-result"
        ? [{ speaker: "tool" as const, text: told(part.output), callId: part.toolCallId }]
        : [],
    );
  });
}

/** What of it is not on the desk yet. */
export function unheard(desk: readonly WorkingItem[], heard: readonly Said[]): Said[] {
  const known = turnsOn(desk);
  const latest = heard.findLastIndex((one) => one.speaker === "user");
  const fresh: Said[] = [];
  for (const [place, one] of heard.entries()) {
    // A run may have stopped at a tool, and the person spoken since: then it is known from before.
    const other = one.speaker === "tool" && place < latest ? "assistant" : otherThan(one.speaker);
    const lately = [...known, ...fresh];
    const after = lately.slice(lately.findLastIndex((turn) => turn.speaker === other) + 1);
    const isKnown = after.some((turn) => turn.speaker === one.speaker && turn.text === one.text);
    if (one.text.trim() && !isKnown) fresh.push(one);
  }
  return fresh;
}

/** A ref for what is said next, where nothing else names it.
 *
 * The same request twice at the same time finds the same desk, and gives its turns the same refs.
 * A ref tells nothing of what was said. */
export function nextRef(desk: readonly WorkingItem[], place: number): string | undefined {
  const last = desk.findLast((item) => TURN.test(item.key));
  return last === undefined ? undefined : `ai-sdk ${place} after ${last.created_at}`;
}

function turnsOn(desk: readonly WorkingItem[]): { speaker: string; text: unknown }[] {
  return desk.flatMap((item) => {
    const speaker = TURN.exec(item.key)?.[1];
    return speaker === undefined ? [] : [{ speaker, text: item.value }];
  });
}

/** Who has to speak before the same words are said anew. */
function otherThan(speaker: Speaker): Speaker {
  return speaker === "user" ? "assistant" : "user";
}
