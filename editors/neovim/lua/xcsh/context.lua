-- Answers xcsh/context: a prompt of the user names a thing in the editor, such as @selection. Only
-- things of the prompt's folder count.

local client_of = vim.lsp.get_client_by_id
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---The kinds that the client announces.
M.kinds = { 'problems', 'buffer', 'selection', 'terminal', 'symbol' }

---More problems, and earlier lines of a terminal, are not sent.
local max_problems, max_terminal_lines = 100, 200

---The time that other language servers have to answer, in milliseconds.
M.patience = 3000

---A symbol whose end is unknown is sent up to here.
local symbol_lines = 40

---@param path string
---@param cwd string
local function is_inside(path, cwd)
  return path == cwd or vim.startswith(path, (cwd:gsub('/*$', '/')))
end

---@param path string
---@param cwd string
---@return string relative to the folder, if it is there
function M.shown(path, cwd)
  return is_inside(path, cwd) and path:sub(#cwd:gsub('/*$', '/') + 1) or path
end

---Returns the folder's file that the user edited last; nil if there is none.
---@param cwd string
---@return integer? bufnr, string? path
function M.edited(cwd)
  local best, newest ---@type integer?, integer
  local function fits(bufnr)
    local name = bufnr > 0 and vim.api.nvim_buf_get_name(bufnr) or ''
    return name ~= '' and vim.bo[bufnr].buftype == '' and is_inside(name, cwd)
  end
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    if fits(info.bufnr) and (not newest or info.lastused > newest) then
      best, newest = info.bufnr, info.lastused
    end
  end
  -- The window beside the chat decides if several buffers were used in the same second.
  for _, bufnr in ipairs({ vim.fn.winbufnr(vim.fn.winnr('#')), vim.fn.bufnr('#') }) do
    if fits(bufnr) then
      best = bufnr
      break
    end
  end
  return best, best and vim.api.nvim_buf_get_name(best)
end

---@type table<integer, string>
local severities = { 'error', 'warning', 'information', 'hint' }

---@param cwd string
local function problems(cwd)
  local lines, all = {}, vim.diagnostic.get()
  table.sort(all, function(a, b)
    return a.severity < b.severity
  end)
  for _, found in ipairs(all) do
    local path = vim.api.nvim_buf_get_name(found.bufnr)
    if is_inside(path, cwd) and #lines < max_problems then
      local message = require('xcsh.text').one_line(found.message, 300)
      lines[#lines + 1] = ('- %s:%d:%d: %s: %s'):format(
        M.shown(path, cwd),
        found.lnum + 1,
        found.col + 1,
        severities[found.severity] or 'hint',
        message
      )
    end
  end
  return #lines > 0 and { text = table.concat(lines, '\n'), label = 'problems in the editor' }
end

---@param cwd string
local function buffer(cwd)
  local _, path = M.edited(cwd)
  return path and { uri = vim.uri_from_fname(path), label = M.shown(path, cwd) }
end

---The last visual selection of the file that the user edited last.
---@param cwd string
---@param encoding string
local function selection(cwd, encoding)
  local bufnr, path = M.edited(cwd)
  if not bufnr or not path then
    return nil
  end
  local from, to = vim.api.nvim_buf_get_mark(bufnr, '<'), vim.api.nvim_buf_get_mark(bufnr, '>')
  if from[1] == 0 or to[1] == 0 then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, to[1] - 1, to[1], false)
  -- The end of a selection of lines is behind every line.
  to[2] = math.min(to[2], math.max(#(lines[1] or '') - 1, 0))
  local range = vim.lsp.util.make_given_range_params(from, to, bufnr, encoding).range
  return {
    uri = vim.uri_from_fname(path),
    range = range,
    label = ('%s:%d-%d'):format(M.shown(path, cwd), from[1], to[1]),
  }
end

---The newest lines of the terminal of the folder that the user used last.
---@param cwd string
local function terminal(cwd)
  local best, newest ---@type integer?, integer
  for _, info in ipairs(vim.fn.getbufinfo({ bufloaded = 1 })) do
    local dir = info.name:match('^term://(.-)//')
    local here = dir and is_inside(vim.fs.normalize(dir), cwd)
    if here and vim.bo[info.bufnr].buftype == 'terminal' then
      if not newest or info.lastused >= newest then
        best, newest = info.bufnr, info.lastused
      end
    end
  end
  if not best then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(best, 0, -1, false)
  while #lines > 0 and vim.trim(lines[#lines]) == '' do
    table.remove(lines)
  end
  lines = vim.list_slice(lines, math.max(1, #lines - max_terminal_lines + 1))
  return #lines > 0 and { text = table.concat(lines, '\n'), label = 'terminal' }
end

-- 0.10 has client.request(…) as closures, later versions have methods.
local has_methods = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param done fun(result: any)
local function request(client, method, params, done)
  local function answer(_, result)
    done(result)
  end
  local bufnr = next(client.attached_buffers or {}) or 0
  local sent
  if has_methods then
    sent = client:request(method, params, answer, bufnr)
  else
    sent = client.request(method, params, answer, bufnr)
  end
  if not sent then
    done(nil)
  end
end

---Returns the language servers that know the symbols of a folder, without our own.
---@param own integer
local function servers(own)
  return vim.tbl_filter(function(client)
    return client.id ~= own
      and wire.tbl(client.server_capabilities).workspaceSymbolProvider ~= nil
      and wire.tbl(client.server_capabilities).workspaceSymbolProvider ~= false
  end, vim.lsp.get_clients())
end

---@param range any
local function last_line(range)
  return wire.num(wire.tbl(wire.tbl(range)['end']).line)
end

---Returns the lines of the smallest symbol of a file that contains a line.
---@param symbols any the result of textDocument/documentSymbol
---@param line integer
---@param best? { first: integer, last: integer }
---@return { first: integer, last: integer }?
local function around(symbols, line, best)
  for _, symbol in ipairs(wire.tbl(symbols)) do
    symbol = wire.tbl(symbol)
    local range = wire.tbl(symbol.range or wire.tbl(symbol.location).range)
    local first, last = wire.num(wire.tbl(range.start).line), last_line(range)
    if first <= line and line <= last then
      if last > first and (not best or last - first <= best.last - best.first) then
        best = { first = first, last = last }
      end
      best = around(symbol.children, line, best)
    end
  end
  return best
end

---@param found { client: vim.lsp.Client, symbol: table }
---@param cwd string
---@param done fun(piece: table?)
local function place(found, cwd, done)
  local location = wire.tbl(found.symbol.location)
  local uri, range = wire.str(location.uri), wire.tbl(location.range)
  local line = wire.num(wire.tbl(range.start).line)
  local function answer(lines)
    local first = lines and lines.first or line
    local last = lines and lines.last or math.max(last_line(range), line)
    if first == last then
      last = first + symbol_lines
    end
    done({
      uri = uri,
      range = {
        start = { line = first, character = 0 },
        ['end'] = { line = last + 1, character = 0 },
      },
      label = ('%s in %s'):format(
        require('xcsh.text').one_line(wire.str(found.symbol.name), 100),
        M.shown(vim.uri_to_fname(uri), cwd)
      ),
    })
  end
  if not wire.tbl(found.client.server_capabilities).documentSymbolProvider then
    return answer()
  end
  request(found.client, 'textDocument/documentSymbol', {
    textDocument = { uri = uri },
  }, function(symbols)
    answer(around(symbols, line))
  end)
end

---Finds a symbol by its name with the language servers of the editor.
---@param cwd string
---@param query string
---@param own integer
---@param done fun(piece: table?)
local function symbol(cwd, query, own, done)
  local clients = servers(own)
  local left, best = #clients, nil ---@type integer, { client: vim.lsp.Client, symbol: table }?
  local finished = false
  local function finish()
    if not finished then
      finished = true
      if best then
        return place(best, cwd, done)
      end
      done(nil)
    end
  end
  if left == 0 then
    return finish()
  end
  -- "store.Open" and "Store:open" are symbols named Open and open in some servers.
  local short = query:match('[%w_]+$') or query
  for _, client in ipairs(clients) do
    request(client, 'workspace/symbol', { query = query }, function(result)
      for _, candidate in ipairs(wire.tbl(result)) do
        candidate = wire.tbl(candidate)
        local uri = wire.str(wire.tbl(candidate.location).uri)
        local name = wire.str(candidate.name)
        local exact = name == query or name == short
        local here = vim.startswith(uri, 'file:') and is_inside(vim.uri_to_fname(uri), cwd)
        if here and exact and (not best or best.symbol.name ~= query and name == query) then
          best = { client = client, symbol = candidate }
        end
      end
      left = left - 1
      if left == 0 then
        finish()
      end
    end)
  end
end

---Returns the things that a prompt can name now, for a completion.
---@param cwd string
---@return { word: string, menu: string }[]
function M.named(cwd)
  local found = {}
  local _, path = M.edited(cwd)
  if path then
    local menu = require('xcsh.text').one_line(M.shown(path, cwd), 60)
    found[#found + 1] = { word = 'buffer', menu = menu }
  end
  local selected = selection(cwd, 'utf-16')
  if selected then
    local menu = require('xcsh.text').one_line(selected.label, 60)
    found[#found + 1] = { word = 'selection', menu = menu }
  end
  local listed = problems(cwd)
  local count = listed and #vim.split(listed.text, '\n') or 0
  found[#found + 1] = { word = 'problems', menu = ('%d in the folder'):format(count) }
  if terminal(cwd) then
    found[#found + 1] = { word = 'terminal', menu = 'newest lines' }
  end
  local own = require('xcsh.client').get()
  if #servers(own and own.id or 0) > 0 then
    found[#found + 1] = { word = 'symbol:', menu = 'name of a symbol' }
  end
  return found
end

---Handles xcsh/context. Runs in a coroutine, like every handler of a server request.
---@param params { cwd: string, kind: string, query?: string }
---@param ctx { client_id: integer }
---@return table|userdata piece, or vim.NIL
function M.answer(params, ctx)
  local cwd, kind = vim.fs.normalize(wire.str(params.cwd)), params.kind
  local piece
  if kind == 'problems' then
    piece = problems(cwd)
  elseif kind == 'buffer' then
    piece = buffer(cwd)
  elseif kind == 'selection' then
    local client = client_of(ctx.client_id)
    piece = selection(cwd, client and client.offset_encoding or 'utf-16')
  elseif kind == 'terminal' then
    piece = terminal(cwd)
  elseif kind == 'symbol' then
    piece = waiting.await(function(done)
      vim.defer_fn(function()
        done(nil)
      end, M.patience)
      symbol(cwd, wire.str(params.query), ctx.client_id, done)
    end)
  end
  return piece or vim.NIL
end

return M
