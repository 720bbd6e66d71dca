import { createSocket } from "node:dgram";
import { HostError } from "../../model/errors.ts";
import { fieldsOf } from "../http/answer.ts";
import { IPRefusal, OWN_METRIC, type RunIP } from "./ip-program.ts";

/*
 * How neighbours learn that an address is here now. A gratuitous ARP is usually sent by a raw socket, which needs the capability NET_RAW. Here the kernel sends it:
 * whoever sends a datagram to a neighbour whose hardware address is not known makes the kernel ask for it, in the name of the sender's address. All who hear an ARP
 * request note where its sender is, if they know the sender.
 *
 * IPv4: for a moment there is a route from the new address to an address that nobody has (TEST-NET-1, RFC 5737). The kernel asks everybody on the link, three
 *       times in three seconds.
 * IPv6: a neighbour notes the sender of a question only if the question is for itself. So the one that matters is asked: the gateway, once the kernel has
 *       forgotten where it is.
 *
 * An interface with the sysctl arp_announce above 0 asks in the name of another address. Then neighbours find out when the entry they have grows old.
 */

/** TEST-NET-1. */
const NOBODY = "192.0.2";
/** Marks the routes, beside their metric: a number that is in no rt_protos of iproute2. */
const PROTOCOL = "76";
const METRIC = String(OWN_METRIC);
/** Discard. */
const PORT = 9;
const SEND_TIMEOUT_MS = 2000;

/** Tells all neighbours on the link of an interface where an IPv4 address is. @throws HostError */
export async function announce4(ip: RunIP, address: string, on: string): Promise<void> {
  // One target for each address: the kernel asks only in the name of who was first.
  const last = Number(address.split(".").at(-1));
  const target = `${NOBODY}.${address === `${NOBODY}.${last}` ? 255 - last : last}`;
  const route = [`${target}/32`, "dev", on, "proto", PROTOCOL, "metric", METRIC];
  await ip("route", "replace", ...route, "scope", "link", "src", address);
  try {
    await send("udp4", { from: address, to: target });
  } finally {
    await ip("route", "delete", ...route).catch(passOver);
  }
}

/** Tells the gateway where an IPv6 address is. @throws HostError */
export async function announce6(
  ip: RunIP,
  { ip: address, on, gateway }: { readonly ip: string; readonly on: string; readonly gateway: string },
): Promise<void> {
  const text = await ip("-json", "-6", "neighbour", "show", gateway, "dev", on);
  const [entry] = text.trim() === "" ? [] : (JSON.parse(text) as readonly unknown[]);
  const { state } = fieldsOf(entry);
  // What a person has written down stays: the gateway is not asked then, nor need it be.
  if (Array.isArray(state) && state.some((word) => word === "PERMANENT" || word === "NOARP")) return;
  if (entry !== undefined) await ip("-6", "neighbour", "delete", gateway, "dev", on).catch(passOver);
  await send("udp6", { from: address, to: gateway.startsWith("fe80:") ? `${gateway}%${on}` : gateway });
}

/** Removes routes that a process left behind that was killed while it announced. */
export async function clearAnnouncements(ip: RunIP): Promise<void> {
  const text = await ip("-json", "-4", "route", "show", "root", `${NOBODY}.0/24`, "proto", PROTOCOL);
  const routes = (text.trim() === "" ? [] : (JSON.parse(text) as readonly unknown[])).map(fieldsOf);
  for (const { dst, dev, metric } of routes)
    if (String(metric) === METRIC && typeof dst === "string" && typeof dev === "string")
      await ip("route", "delete", dst, "dev", dev, "proto", PROTOCOL, "metric", METRIC).catch(passOver);
}

/** What is gone already need not be removed. */
function passOver(error: unknown): void {
  if (!(error instanceof IPRefusal && error.kind === "gone")) throw error;
}

/** Sends an empty datagram. Resolves once the kernel has it. */
async function send(
  type: "udp4" | "udp6",
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const socket = createSocket(type);
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("it was not sent in time")), SEND_TIMEOUT_MS);
      socket.once("error", reject);
      socket.bind({ address: from }, () => {
        socket.send("", PORT, to, (error) => (error === null ? resolve() : reject(error)));
      });
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown";
    throw new HostError(`Neighbours could not be told of ${from}: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
