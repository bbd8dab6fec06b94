-- A language server in this process. It reports each word "bad" as an error, and knows the words of
-- a file.

local M = {}

---@param line string
---@param byte integer
local function utf16(line, byte)
  if vim.fn.has('nvim-0.11') == 1 then
    return vim.str_utfindex(line, 'utf-16', byte)
  end
  return select(2, vim.str_utfindex(line, byte))
end

---@param text string
---@return { row: integer, from: integer, to: integer, word: string }[] in UTF-16 units
local function words(text)
  local found = {}
  for row, line in ipairs(vim.split(text, '\n')) do
    local from = 1
    while true do
      local first, last = line:find('%a+', from)
      if not first then
        break
      end
      local units = utf16(line, first - 1)
      table.insert(found, {
        row = row - 1,
        from = units,
        to = units + last - first + 1,
        word = line:sub(first, last),
      })
      from = last + 1
    end
  end
  return found
end

local function range(place)
  return {
    start = { line = place.row, character = place.from },
    ['end'] = { line = place.row, character = place.to },
  }
end

local capabilities = {
  positionEncoding = 'utf-16',
  textDocumentSync = 1,
  definitionProvider = true,
  referencesProvider = true,
  hoverProvider = true,
  documentSymbolProvider = true,
  workspaceSymbolProvider = true,
  renameProvider = true,
  codeActionProvider = { resolveProvider = true },
}

---Starts the server for files of a type. Returns its texts by URI.
---@param filetype string
function M.start(filetype)
  local texts = {} ---@type table<string, string>
  local dispatchers

  local function publish(uri)
    local items = {}
    for _, place in ipairs(words(texts[uri])) do
      if place.word == 'bad' then
        table.insert(items, {
          range = range(place),
          severity = 1,
          message = 'bad word',
          source = 'words',
          code = 'B1',
        })
      end
    end
    vim.schedule(function()
      local params = { uri = uri, diagnostics = items }
      dispatchers.notification('textDocument/publishDiagnostics', params)
    end)
  end

  ---The places of the word at a position.
  local function same(params)
    local uri, at = params.textDocument.uri, params.position
    local all = words(texts[uri])
    local under
    for _, place in ipairs(all) do
      if place.row == at.line and place.from <= at.character and at.character < place.to then
        under = place.word
      end
    end
    return vim.tbl_filter(function(place)
      return place.word == under
    end, all), under
  end

  local handlers = {
    initialize = function()
      return { capabilities = capabilities }
    end,
    ['textDocument/definition'] = function(params)
      local place = same(params)[1]
      return place and { uri = params.textDocument.uri, range = range(place) }
    end,
    ['textDocument/references'] = function(params)
      return vim.tbl_map(function(place)
        return { uri = params.textDocument.uri, range = range(place) }
      end, (same(params)))
    end,
    ['textDocument/hover'] = function(params)
      local _, under = same(params)
      return under and { contents = { kind = 'markdown', value = 'the word **' .. under .. '**' } }
    end,
    ['textDocument/documentSymbol'] = function(params)
      local place = words(texts[params.textDocument.uri])[1]
      return {
        { name = place.word, kind = 13, range = range(place), selectionRange = range(place) },
      }
    end,
    ['workspace/symbol'] = function(params)
      local found = {}
      for uri, text in pairs(texts) do
        for _, place in ipairs(words(text)) do
          if place.word == params.query then
            local location = { uri = uri, range = range(place) }
            table.insert(found, { name = place.word, kind = 13, location = location })
          end
        end
      end
      return found
    end,
    ['textDocument/rename'] = function(params)
      local edits = vim.tbl_map(function(place)
        return { range = range(place), newText = params.newName }
      end, (same(params)))
      return { changes = { [params.textDocument.uri] = edits } }
    end,
    ['textDocument/codeAction'] = function(params)
      return {
        { title = 'Repair', kind = 'quickfix', data = { params.textDocument.uri, params.range } },
        { title = 'Run it', command = 'run' },
      }
    end,
    ['codeAction/resolve'] = function(action)
      local edit = { range = action.data[2], newText = 'good' }
      action.edit = { changes = { [action.data[1]] = { edit } } }
      return action
    end,
  }

  local function open(params)
    texts[params.textDocument.uri] = params.textDocument.text
    publish(params.textDocument.uri)
  end
  local notifications = {
    ['textDocument/didOpen'] = open,
    ['textDocument/didChange'] = function(params)
      texts[params.textDocument.uri] = params.contentChanges[#params.contentChanges].text
      publish(params.textDocument.uri)
    end,
  }

  local function cmd(given)
    dispatchers = given
    local id, closing = 0, false
    return {
      request = function(method, params, callback)
        id = id + 1
        local handler = handlers[method]
        -- As another process does: later, when the caller waits already.
        vim.schedule(function()
          if method == 'shutdown' then
            return callback(nil, vim.NIL)
          end
          callback(nil, handler and handler(params) or vim.NIL)
        end)
        return true, id
      end,
      notify = function(method, params)
        if method == 'exit' then
          closing = true
          given.on_exit(0, 0)
        elseif notifications[method] then
          notifications[method](params)
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        if not closing then
          closing = true
          given.on_exit(0, 15)
        end
      end,
    }
  end

  M.group = vim.api.nvim_create_augroup('test_languages', {})
  vim.api.nvim_create_autocmd('FileType', {
    group = M.group,
    pattern = filetype,
    callback = function(event)
      local config = { name = 'words', cmd = cmd, root_dir = vim.fn.getcwd() }
      vim.lsp.start(config, { bufnr = event.buf })
    end,
  })
  return texts
end

---Stops the server.
function M.stop()
  vim.api.nvim_del_augroup_by_id(M.group)
  for _, client in ipairs(vim.lsp.get_clients({ name = 'words' })) do
    if vim.fn.has('nvim-0.11') == 1 then
      client:stop(true)
    else
      client.stop(true)
    end
  end
end

return M
