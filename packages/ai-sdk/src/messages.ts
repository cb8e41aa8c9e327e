/** Messages of the SDK as plain ones, which the service guards, and back. */

import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";

import type { Guarded, Plain } from "./service.js";

type Part = Exclude<LanguageModelV4Message["content"], string>[number];
type Made = Record<string, any>;

/** A part that is passed on as it is. Its bytes stay here. */
const OTHER: Plain = { type: "other" };

/** A message as the service guards it: with as many parts, in the same places. */
export function plain(message: LanguageModelV4Message): Plain {
  const { role, content } = message;
  return { role, content: typeof content === "string" ? content : content.map(plainPart) };
}

/** The messages that are sent. One with nothing dead in it is the very object that it was. */
export function sent(prompt: LanguageModelV4Prompt, guarded: Guarded): LanguageModelV4Prompt {
  const told = new Map(guarded.account.map((one) => [one.index, one.outcome]));
  const kept = guarded.messages.values();
  const made: LanguageModelV4Prompt = [];
  for (const [number, message] of prompt.entries()) {
    const outcome = told.get(number);
    if (outcome === "left out" || outcome === "over budget") continue;
    const guardedMessage = kept.next().value as Plain;
    made.push(outcome === undefined ? message : rebuilt(message, guardedMessage));
  }
  return made;
}

/** The prompt with a context behind the application's own instructions. */
export function instructed(prompt: LanguageModelV4Prompt, context: string): LanguageModelV4Prompt {
  const talk = prompt.findIndex((message) => message.role !== "system");
  const before = talk < 0 ? prompt.length : talk;
  const last = prompt[before - 1];
  if (last?.role === "system" && last.providerOptions === undefined) {
    // Some models take a single system message.
    const joined = { ...last, content: `${last.content}\n\n${context}` };
    return [...prompt.slice(0, before - 1), joined, ...prompt.slice(before)];
  }
  // Options belong to a text as it is, such as one that a provider caches.
  return [
    ...prompt.slice(0, before),
    { role: "system", content: context },
    ...prompt.slice(before),
  ];
}

/** The words of a person's message. A document that comes with it is not their word. */
export function said(message: LanguageModelV4Message): string {
  if (message.role !== "user") return "";
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** What a tool gave back, as a turn of talk. */
export function told(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
    case "content":
      return output.value.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    default:
      return "";
  }
}

/** Whether the application is to run a tool; a provider runs its own. */
export function callsTool(message: LanguageModelV4Message): boolean {
  return (
    message.role === "assistant" &&
    message.content.some((part) => part.type === "tool-call" && !part.providerExecuted)
  );
}

function plainPart(part: Part): Plain {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "file":
      return part.data.type === "text" ? { type: "file", text: part.data.text } : { type: "file" };
    case "reasoning":
      return { type: "reasoning" };
    case "tool-call":
      if (part.providerExecuted) return OTHER;
      return { type: "tool_call", arguments: JSON.stringify(part.input ?? null) };
    case "tool-result":
      return plainOutput(part.output);
    default:
      return OTHER;
  }
}

function plainOutput(output: LanguageModelV4ToolResultOutput): Plain {
  switch (output.type) {
    case "text":
    case "error-text":
      return { type: "tool_result", content: output.value };
    case "json":
    case "error-json":
      return { function_response: { response: { value: output.value } } };
    case "content":
      return {
        type: "tool_result",
        content: output.value.map((part) =>
          part.type === "text" ? { type: "text", text: part.text } : { type: part.type },
        ),
      };
    default:
      return { type: "tool_result" };
  }
}

function rebuilt(message: LanguageModelV4Message, made: Plain): LanguageModelV4Message {
  if (message.role === "system") return message;
  const parts = made.content as Made[];
  const content = (message.content as Part[]).map((part, place) =>
    rebuiltPart(part, parts[place] ?? {}),
  );
  return { ...message, content } as LanguageModelV4Message;
}

function rebuiltPart(part: Part, made: Made): Part {
  switch (part.type) {
    case "text":
      return made.text === part.text ? part : { ...part, text: made.text };
    case "file":
      return part.data.type === "text"
        ? { ...part, data: { ...part.data, text: made.text } }
        : part;
    case "tool-call":
      return part.providerExecuted ? part : { ...part, input: JSON.parse(made.arguments) };
    case "tool-result":
      return { ...part, output: rebuiltOutput(part.output, made) };
    default:
      return part;
  }
}

function rebuiltOutput(
  output: LanguageModelV4ToolResultOutput,
  made: Made,
): LanguageModelV4ToolResultOutput {
  switch (output.type) {
    case "text":
    case "error-text":
      return { ...output, value: made.content };
    case "json":
    case "error-json":
      return { ...output, value: made.function_response.response.value };
    case "content": {
      const value = output.value.map((part, place) =>
        part.type === "text" ? { ...part, text: made.content[place].text } : part,
      );
      return { ...output, value };
    }
    default:
      return output;
  }
}
