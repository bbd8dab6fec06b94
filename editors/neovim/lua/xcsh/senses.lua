-- Answers xcsh/editor/NAME: what the editor's language servers know about code. Nothing is changed:
-- the server asks the user about edits, and applies them itself.

local convert = require('xcsh.convert')
local looking = require('xcsh.looking')
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---The requests that the client announces.
M.requests = {
  'diagnostics',
  'definition',
  'typeDefinition',
  'implementation',
  'references',
  'hover',
  'symbols',
  'rename',
  'codeActions',
  'editors',
  'selection',
}

---The time that the language servers have to answer, in milliseconds.
M.patience = 8000

---@type table<string, string>
local methods = {
  definition = 'textDocument/definition',
  typeDefinition = 'textDocument/typeDefinition',
  implementation = 'textDocument/implementation',
  references = 'textDocument/references',
  hover = 'textDocument/hover',
  symbols = 'textDocument/documentSymbol',
  rename = 'textDocument/rename',
  codeActions = 'textDocument/codeAction',
}

---More code actions are not resolved.
local max_resolved = 30

-- 0.10 has client.request(…) as closures, later versions have methods.
local has_methods = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param name string
local function call(client, name, ...)
  if has_methods then
    return client[name](client, ...)
  end
  return client[name](...)
end

---Sends a request to a language server and waits for the answer.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param bufnr integer
---@return any result nil after an error
---@return string? problem
local function ask(client, method, params, bufnr)
  local answer = waiting.await(function(done)
    local sent = call(client, 'request', method, params, function(err, result)
      done({ result = result, problem = err and (err.message or tostring(err)) })
    end, bufnr)
    if not sent then
      return done({ problem = 'The language server has stopped.' })
    end
    vim.defer_fn(function()
      done({ problem = ('%s did not answer in time.'):format(client.name) })
    end, M.patience)
  end)
  local result = answer.result
  if result == vim.NIL then
    result = nil
  end
  return result, answer.problem
end

---Returns the language servers of a buffer that answer a method, without our own.
---@param look xcsh.Look
---@param method string
---@return vim.lsp.Client[]
local function servers(look, method)
  local function find()
    return vim.tbl_filter(function(client)
      return client.id ~= look.own and call(client, 'supports_method', method, look.bufnr)
    end, vim.lsp.get_clients({ bufnr = look.bufnr }))
  end
  local found = find()
  -- A buffer that was just loaded gets its language servers a moment later.
  for _ = 1, look.is_new and 60 or 0 do
    if #found > 0 then
      break
    end
    looking.pause(50)
    found = find()
  end
  return found
end

---@param look xcsh.Look
---@param position any of the server
---@param client vim.lsp.Client
local function place(look, position, client)
  return {
    textDocument = { uri = look.uri },
    position = convert.position(look.uri, position, look.encoding, client.offset_encoding),
  }
end

---@param name string
---@param params table
---@param look xcsh.Look
---@return xcsh.wire.EditorLocation[]
local function places(name, params, look)
  local found = {}
  for _, client in ipairs(servers(look, methods[name])) do
    local request = place(look, params.position, client)
    if name == 'references' then
      request.context = { includeDeclaration = true }
    end
    local result = wire.tbl((ask(client, methods[name], request, look.bufnr)))
    if result.uri or result.targetUri then
      result = { result }
    end
    for _, location in ipairs(result) do
      location = wire.tbl(location)
      local uri = wire.str(location.uri or location.targetUri)
      local range = location.range or location.targetSelectionRange or location.targetRange
      table.insert(found, {
        uri = uri,
        range = convert.range(uri, range, client.offset_encoding, look.encoding),
      })
    end
  end
  return found
end

---@param params table
---@param look xcsh.Look
local function hover(params, look)
  local parts = {}
  for _, client in ipairs(servers(look, methods.hover)) do
    local result =
      wire.tbl((ask(client, methods.hover, place(look, params.position, client), look.bufnr)))
    if result.contents then
      local lines = vim.lsp.util.convert_input_to_markdown_lines(result.contents)
      table.insert(parts, vim.trim(table.concat(lines, '\n')))
    end
  end
  local text = vim.trim(table.concat(parts, '\n\n'))
  return text ~= '' and { kind = 'markdown', value = text } or vim.NIL
end

---@param symbols any
---@param uri string of their file, if they are in one
---@param from string
---@param to string
local function convert_symbols(symbols, uri, from, to)
  local converted = {}
  for _, symbol in ipairs(wire.tbl(symbols)) do
    symbol = wire.tbl(symbol)
    local own = { name = wire.str(symbol.name), kind = wire.num(symbol.kind) }
    if symbol.location then
      local location = wire.tbl(symbol.location)
      local at = wire.str(location.uri)
      own.location = { uri = at, range = convert.range(at, location.range, from, to) }
      own.containerName = type(symbol.containerName) == 'string' and symbol.containerName or nil
    else
      own.range = convert.range(uri, symbol.range, from, to)
      own.selectionRange = convert.range(uri, symbol.selectionRange or symbol.range, from, to)
      own.children = convert_symbols(symbol.children, uri, from, to)
    end
    table.insert(converted, own)
  end
  return converted
end

---@param look xcsh.Look
local function symbols_of(look)
  for _, client in ipairs(servers(look, methods.symbols)) do
    local request = { textDocument = { uri = look.uri } }
    local result = wire.tbl((ask(client, methods.symbols, request, look.bufnr)))
    if #result > 0 then
      return convert_symbols(result, look.uri, client.offset_encoding, look.encoding)
    end
  end
  return {}
end

---@param query string
---@param own integer
---@param encoding string
local function symbols_of_all(query, own, encoding)
  local found = {}
  for _, client in ipairs(vim.lsp.get_clients()) do
    local can = wire.tbl(client.server_capabilities).workspaceSymbolProvider
    if client.id ~= own and can then
      local bufnr = next(client.attached_buffers or {}) or 0
      local result = ask(client, 'workspace/symbol', { query = query }, bufnr)
      vim.list_extend(found, convert_symbols(result, '', client.offset_encoding, encoding))
    end
  end
  return found
end

---@param params table
---@param look xcsh.Look
local function rename(params, look)
  local problem
  for _, client in ipairs(servers(look, methods.rename)) do
    local request = place(look, params.position, client)
    request.newName = wire.str(params.newName)
    local result, why = ask(client, methods.rename, request, look.bufnr)
    if result then
      return convert.edit(result, client.offset_encoding, look.encoding)
    end
    problem = problem or why
  end
  if problem then
    error({ message = problem })
  end
  return vim.NIL
end

---@param action table
---@param client vim.lsp.Client
---@param look xcsh.Look
local function convert_action(action, client, look)
  local converted = { title = wire.str(action.title) }
  if type(action.command) == 'string' then
    return converted
  end
  if type(action.kind) == 'string' then
    converted.kind = action.kind
  end
  if type(action.disabled) == 'table' then
    converted.disabled = wire.str(action.disabled.reason)
  end
  -- The server cannot run the command that belongs to an edit, and applies none without it.
  local has_command = type(action.command) == 'table'
  if type(action.edit) == 'table' and not has_command then
    converted.edit = convert.edit(action.edit, client.offset_encoding, look.encoding)
  end
  return converted
end

---@param params table
---@param look xcsh.Look
local function code_actions(params, look)
  local found, resolved = {}, 0
  for _, client in ipairs(servers(look, methods.codeActions)) do
    local range = convert.range(look.uri, params.range, look.encoding, client.offset_encoding)
    local only = wire.texts(params.only)
    local request = {
      textDocument = { uri = look.uri },
      range = range,
      context = {
        diagnostics = convert.known(look.bufnr, range.start.line, range['end'].line),
        only = #only > 0 and only or nil,
      },
    }
    local provider = wire.tbl(wire.tbl(client.server_capabilities).codeActionProvider)
    local actions = wire.tbl((ask(client, methods.codeActions, request, look.bufnr)))
    for _, action in ipairs(actions) do
      action = wire.tbl(action)
      local is_action = type(action.command) ~= 'string' and not action.edit
      if provider.resolveProvider and is_action and resolved < max_resolved then
        resolved = resolved + 1
        action = ask(client, 'codeAction/resolve', action, look.bufnr) or action
      end
      table.insert(found, convert_action(action, client, look))
    end
  end
  return found
end

---@param cwd string
local function editors(cwd)
  local found = {}
  local active = require('xcsh.context').edited(cwd)
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    local inside = vim.startswith(info.name, (cwd:gsub('/*$', '/')))
    if inside and vim.bo[info.bufnr].buftype == '' then
      table.insert(found, {
        uri = vim.uri_from_fname(info.name),
        languageId = vim.bo[info.bufnr].filetype,
        active = info.bufnr == active or nil,
        visible = #info.windows > 0 or nil,
        dirty = info.changed == 1 or nil,
      })
    end
  end
  return found
end

---@param cwd string
---@param ctx table
local function selection(cwd, ctx)
  local piece = require('xcsh.context').answer({ cwd = cwd, kind = 'selection' }, ctx)
  if type(piece) ~= 'table' then
    return vim.NIL
  end
  return { uri = piece.uri, range = piece.range }
end

---@param params table
---@param own integer
---@param encoding string
local function diagnostics(params, own, encoding)
  local documents = {}
  local uris = wire.texts(params.uris)
  if #uris == 0 then
    local known = {}
    for _, found in ipairs(vim.diagnostic.get()) do
      known[found.bufnr] = true
    end
    for bufnr in pairs(known) do
      local name = vim.api.nvim_buf_get_name(bufnr)
      if name ~= '' and vim.bo[bufnr].buftype == '' then
        local items = convert.diagnostics(bufnr, encoding)
        table.insert(documents, { uri = vim.uri_from_fname(name), items = items })
      end
    end
  end
  local deadline = vim.uv.hrtime() / 1e6 + math.min(wire.num(params.settleMs), 10000)
  for _, uri in ipairs(uris) do
    local look = looking.load(uri, own, encoding)
    if look then
      local stale = looking.settle(look, deadline)
      table.insert(documents, {
        uri = uri,
        stale = stale or nil,
        items = convert.diagnostics(look.bufnr, encoding),
      })
    end
  end
  return { documents = documents }
end

---@param name string
---@param params table
---@param ctx { client_id: integer }
local function answer(name, params, ctx)
  local client = vim.lsp.get_client_by_id(ctx.client_id)
  local encoding = client and client.offset_encoding or 'utf-16'
  if name == 'diagnostics' then
    return diagnostics(params, ctx.client_id, encoding)
  elseif name == 'editors' then
    return editors(vim.fs.normalize(wire.str(params.cwd)))
  elseif name == 'selection' then
    return selection(vim.fs.normalize(wire.str(params.cwd)), ctx)
  elseif name == 'symbols' and wire.str(params.uri) == '' then
    return symbols_of_all(wire.str(params.query), ctx.client_id, encoding)
  end
  local look = looking.load(wire.str(params.uri), ctx.client_id, encoding)
  if not look then
    error({ message = "The file can't be opened." })
  elseif name == 'hover' then
    return hover(params, look)
  elseif name == 'symbols' then
    return symbols_of(look)
  elseif name == 'rename' then
    return rename(params, look)
  elseif name == 'codeActions' then
    return code_actions(params, look)
  end
  return places(name, params, look)
end

---Handles xcsh/editor/NAME. Runs in a coroutine, like every handler of a server request.
---@param name string
---@param params any
---@param ctx { client_id: integer }
---@return any result
---@return table? problem
function M.answer(name, params, ctx)
  local ok, result = pcall(answer, name, wire.tbl(params), ctx)
  if ok then
    return result
  end
  local message = type(result) == 'table' and result.message or tostring(result)
  return nil, vim.lsp.rpc.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, message)
end

return M
