import { describeBrokenConnections } from "../http/http-contract.ts";
import { HTTP_WORLD } from "./http-world.ts";

describeBrokenConnections(HTTP_WORLD);
